#pragma once
#include <QPainter>

#include "../gui/theme.h"
#include "gui/widgets/theme.h"
