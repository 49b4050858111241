// The schema of the trace file (store/schema.sql) and its versions.
#pragma once

namespace swinscope {

extern const char* const kSchemaSql;

// The version of swinscope that writes a file.
extern const char* const kProductVersion;

// Made when a recording is finished, for the people who query the file with SQL; our own readers scan whole tables.
inline constexpr const char* kIndexSql =
    "CREATE INDEX IF NOT EXISTS swinscope_kernel_start ON CUPTI_ACTIVITY_KIND_KERNEL(start);"
    "CREATE INDEX IF NOT EXISTS swinscope_api_correlation ON CUPTI_ACTIVITY_KIND_RUNTIME(correlationId)";

// Version of the SWINSCOPE_* tables. A file with a larger number is refused, a smaller one is read.
inline constexpr int kSchemaVersion = 1;

// Version of Nsight Systems' export schema whose columns the nsys-compatible tables follow.
inline constexpr const char* kNsysSchemaVersion = "3.25.0";

}  // namespace swinscope
