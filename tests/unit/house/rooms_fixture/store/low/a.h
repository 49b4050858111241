#include "store/high/b.h"
