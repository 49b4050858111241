#include "store/low/a.h"
