#include <CLI/App.hpp>
#include <cupti.h>
