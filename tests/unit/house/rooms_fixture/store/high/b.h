#include "store/high/c.h"
#include "store/low/a.h"
