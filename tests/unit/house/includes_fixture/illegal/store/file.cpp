#include "file.h"

#include <boost/asio.hpp>
#include <cuda_runtime.h>

#include "analyzer/view.h"
