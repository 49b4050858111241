// The schema of the trace file (store/schema.sql) and its versions.
#pragma once

namespace swinscope {

extern const char* const kSchemaSql;

// Version of the SWINSCOPE_* tables. A file with a larger number is refused, a smaller one is read.
inline constexpr int kSchemaVersion = 1;

// Version of Nsight Systems' export schema whose columns the nsys-compatible tables follow.
inline constexpr const char* kNsysSchemaVersion = "3.25.0";

}  // namespace swinscope
