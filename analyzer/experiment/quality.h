// How good the results of an experiment's points are, as somebody measured it elsewhere, beside how fast the points
// are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzer/table/render.h"

namespace swinscope {

struct Quality {
  std::string factor;  // by whose values points are told apart: "precision"
  std::string name;    // of the measure, with its unit: "top-1 [%]"
  // By value of the factor; several of one are repeats, such as trainings from several seeds.
  std::map<std::string, std::vector<double>> measured;
};

// Adds the table "quality" to an experiment's document: its points, slowest first, with what was measured of them. The
// factor is its first column.
// Returns whether the document has points with this factor. Throws Error(kInput) where a value is none of any point.
bool add_quality(const Quality& quality, Document& document);

}  // namespace swinscope
