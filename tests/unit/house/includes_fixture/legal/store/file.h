#pragma once

#include <string>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
