#pragma once
// Too late: below the first line.
