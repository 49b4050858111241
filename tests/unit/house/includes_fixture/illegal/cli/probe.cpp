#include <cupti.h>
