// The warp group product of Hopper (PTX ISA, wgmma.mma_async): 64 x kColumns sums, spread over 128 threads, of 64 x 16
// and kColumns x 16 operands of 16 bits, or 64 x 32 and kColumns x 32 of 8 bits, in shared memory. Sums are in fp32, of
// integers (std::int8_t) in 32-bit integers. With g = lane / 4 and t = lane % 4, warp w has rows 16 w + g and 16 w + g
// + 8, and of each 8 columns 2 t and 2 t + 1: element 4 j + e of a thread's sums is row 16 w + g + 8 (e / 2), column
// 8 j + 2 t + e % 2.
//
// The instruction wants each of its registers by name, hence the long lists. SUM: how a register of a sum is bound.
// KIND: depth and types of the operands. SIGNS: integers name none, others the signs of both, those of 16 bits also how
// they lie.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace swinscope::cuda {

template <typename T, int kColumns>
struct WarpGroupProduct;

// The product of one kind, of both of 16 bits, and of both of 8.
#define SWINSCOPE_WGMMA_OF(TYPE, COLUMNS, SUMS, PRODUCT, ...)                                             \
  template <>                                                                                             \
  struct WarpGroupProduct<TYPE, COLUMNS> {                                                                \
    static __device__ void add(SUMS (&sums)[COLUMNS / 2], std::uint64_t a, std::uint64_t b, bool clear) { \
      PRODUCT(__VA_ARGS__);                                                                               \
    }                                                                                                     \
  }
#define SWINSCOPE_WGMMA_OF_HALVES(COLUMNS, PRODUCT)                                             \
  SWINSCOPE_WGMMA_OF(__half, COLUMNS, float, PRODUCT, "+f", "k16.f32.f16.f16", ", 1, 1, 0, 0"); \
  SWINSCOPE_WGMMA_OF(__nv_bfloat16, COLUMNS, float, PRODUCT, "+f", "k16.f32.bf16.bf16", ", 1, 1, 0, 0")
#define SWINSCOPE_WGMMA_OF_BYTES(COLUMNS, PRODUCT)                                                 \
  SWINSCOPE_WGMMA_OF(__nv_fp8_e4m3, COLUMNS, float, PRODUCT, "+f", "k32.f32.e4m3.e4m3", ", 1, 1"); \
  SWINSCOPE_WGMMA_OF(std::int8_t, COLUMNS, int, PRODUCT, "+r", "k32.s32.s8.s8", "")

// sums += a b^T, or = where `clear`; a and b by their descriptors.
#define SWINSCOPE_WGMMA_32(SUM, KIND, SIGNS)                                                                  \
  asm volatile(                                                                                               \
      "{\n.reg .pred p;\nsetp.eq.b32 p, %18, 0;\n"                                                            \
      "wgmma.mma_async.sync.aligned.m64n32" KIND                                                              \
      " "                                                                                                     \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "                              \
      "%16, %17, p" SIGNS ";\n}\n"                                                                            \
      : SUM(sums[0]), SUM(sums[1]), SUM(sums[2]), SUM(sums[3]), SUM(sums[4]), SUM(sums[5]), SUM(sums[6]),     \
        SUM(sums[7]), SUM(sums[8]), SUM(sums[9]), SUM(sums[10]), SUM(sums[11]), SUM(sums[12]), SUM(sums[13]), \
        SUM(sums[14]), SUM(sums[15])                                                                          \
      : "l"(a), "l"(b), "r"(clear ? 1 : 0))

SWINSCOPE_WGMMA_OF_HALVES(32, SWINSCOPE_WGMMA_32);
SWINSCOPE_WGMMA_OF_BYTES(32, SWINSCOPE_WGMMA_32);
#undef SWINSCOPE_WGMMA_32

// sums += a b^T, or = where `clear`; a and b by their descriptors.
#define SWINSCOPE_WGMMA_64(SUM, KIND, SIGNS)                                                                     \
  asm volatile(                                                                                                  \
      "{\n.reg .pred p;\nsetp.eq.b32 p, %34, 0;\n"                                                               \
      "wgmma.mma_async.sync.aligned.m64n64" KIND                                                                 \
      " "                                                                                                        \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                  \
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "                       \
      "%32, %33, p" SIGNS ";\n}\n"                                                                               \
      : SUM(sums[0]), SUM(sums[1]), SUM(sums[2]), SUM(sums[3]), SUM(sums[4]), SUM(sums[5]), SUM(sums[6]),        \
        SUM(sums[7]), SUM(sums[8]), SUM(sums[9]), SUM(sums[10]), SUM(sums[11]), SUM(sums[12]), SUM(sums[13]),    \
        SUM(sums[14]), SUM(sums[15]), SUM(sums[16]), SUM(sums[17]), SUM(sums[18]), SUM(sums[19]), SUM(sums[20]), \
        SUM(sums[21]), SUM(sums[22]), SUM(sums[23]), SUM(sums[24]), SUM(sums[25]), SUM(sums[26]), SUM(sums[27]), \
        SUM(sums[28]), SUM(sums[29]), SUM(sums[30]), SUM(sums[31])                                               \
      : "l"(a), "l"(b), "r"(clear ? 1 : 0))

SWINSCOPE_WGMMA_OF_HALVES(64, SWINSCOPE_WGMMA_64);
SWINSCOPE_WGMMA_OF_BYTES(64, SWINSCOPE_WGMMA_64);
#undef SWINSCOPE_WGMMA_64

// sums += a b^T, or = where `clear`; a and b by their descriptors, or a in registers, as mma.m16n8k16 has it.
#define SWINSCOPE_WGMMA_96(SUM, KIND, CLEAR, OPERANDS, ...)                                                            \
  asm volatile("{\n.reg .pred p;\nsetp.eq.b32 p, " CLEAR                                                               \
               ", 0;\n"                                                                                                \
               "wgmma.mma_async.sync.aligned.m64n96" KIND                                                              \
               " "                                                                                                     \
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                               \
               " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                     \
               " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, " OPERANDS ";\n}\n"  \
               : SUM(sums[0]), SUM(sums[1]), SUM(sums[2]), SUM(sums[3]), SUM(sums[4]), SUM(sums[5]), SUM(sums[6]),     \
                 SUM(sums[7]), SUM(sums[8]), SUM(sums[9]), SUM(sums[10]), SUM(sums[11]), SUM(sums[12]), SUM(sums[13]), \
                 SUM(sums[14]), SUM(sums[15]), SUM(sums[16]), SUM(sums[17]), SUM(sums[18]), SUM(sums[19]),             \
                 SUM(sums[20]), SUM(sums[21]), SUM(sums[22]), SUM(sums[23]), SUM(sums[24]), SUM(sums[25]),             \
                 SUM(sums[26]), SUM(sums[27]), SUM(sums[28]), SUM(sums[29]), SUM(sums[30]), SUM(sums[31]),             \
                 SUM(sums[32]), SUM(sums[33]), SUM(sums[34]), SUM(sums[35]), SUM(sums[36]), SUM(sums[37]),             \
                 SUM(sums[38]), SUM(sums[39]), SUM(sums[40]), SUM(sums[41]), SUM(sums[42]), SUM(sums[43]),             \
                 SUM(sums[44]), SUM(sums[45]), SUM(sums[46]), SUM(sums[47])                                            \
               : __VA_ARGS__, "l"(b), "r"(clear ? 1 : 0))
#define SWINSCOPE_WGMMA_96_SHARED(SUM, KIND, SIGNS) SWINSCOPE_WGMMA_96(SUM, KIND, "%50", "%48, %49, p" SIGNS, "l"(a))
#define SWINSCOPE_WGMMA_96_REGISTERS(KIND)                                                                        \
  SWINSCOPE_WGMMA_96("+f", KIND, "%53", "{%48, %49, %50, %51}, %52, p, 1, 1, 0", "r"(a[0]), "r"(a[1]), "r"(a[2]), \
                     "r"(a[3]))

template <>
struct WarpGroupProduct<__half, 96> {
  static __device__ void add(float (&sums)[48], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_96_SHARED("+f", "k16.f32.f16.f16", ", 1, 1, 0, 0");
  }
  static __device__ void add(float (&sums)[48], const std::uint32_t (&a)[4], std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_96_REGISTERS("k16.f32.f16.f16");
  }
};
template <>
struct WarpGroupProduct<__nv_bfloat16, 96> {
  static __device__ void add(float (&sums)[48], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_96_SHARED("+f", "k16.f32.bf16.bf16", ", 1, 1, 0, 0");
  }
  static __device__ void add(float (&sums)[48], const std::uint32_t (&a)[4], std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_96_REGISTERS("k16.f32.bf16.bf16");
  }
};
SWINSCOPE_WGMMA_OF_BYTES(96, SWINSCOPE_WGMMA_96_SHARED);
#undef SWINSCOPE_WGMMA_96_REGISTERS
#undef SWINSCOPE_WGMMA_96_SHARED
#undef SWINSCOPE_WGMMA_96

// sums += a b^T, or = where `clear`; a and b by their descriptors, or a in registers, as mma.m16n8k16 has it.
#define SWINSCOPE_WGMMA_128(SUM, KIND, CLEAR, OPERANDS, ...)                                                           \
  asm volatile("{\n.reg .pred p;\nsetp.eq.b32 p, " CLEAR                                                               \
               ", 0;\n"                                                                                                \
               "wgmma.mma_async.sync.aligned.m64n128" KIND                                                             \
               " "                                                                                                     \
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                               \
               " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                     \
               " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                     \
               " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, " OPERANDS ";\n}\n"  \
               : SUM(sums[0]), SUM(sums[1]), SUM(sums[2]), SUM(sums[3]), SUM(sums[4]), SUM(sums[5]), SUM(sums[6]),     \
                 SUM(sums[7]), SUM(sums[8]), SUM(sums[9]), SUM(sums[10]), SUM(sums[11]), SUM(sums[12]), SUM(sums[13]), \
                 SUM(sums[14]), SUM(sums[15]), SUM(sums[16]), SUM(sums[17]), SUM(sums[18]), SUM(sums[19]),             \
                 SUM(sums[20]), SUM(sums[21]), SUM(sums[22]), SUM(sums[23]), SUM(sums[24]), SUM(sums[25]),             \
                 SUM(sums[26]), SUM(sums[27]), SUM(sums[28]), SUM(sums[29]), SUM(sums[30]), SUM(sums[31]),             \
                 SUM(sums[32]), SUM(sums[33]), SUM(sums[34]), SUM(sums[35]), SUM(sums[36]), SUM(sums[37]),             \
                 SUM(sums[38]), SUM(sums[39]), SUM(sums[40]), SUM(sums[41]), SUM(sums[42]), SUM(sums[43]),             \
                 SUM(sums[44]), SUM(sums[45]), SUM(sums[46]), SUM(sums[47]), SUM(sums[48]), SUM(sums[49]),             \
                 SUM(sums[50]), SUM(sums[51]), SUM(sums[52]), SUM(sums[53]), SUM(sums[54]), SUM(sums[55]),             \
                 SUM(sums[56]), SUM(sums[57]), SUM(sums[58]), SUM(sums[59]), SUM(sums[60]), SUM(sums[61]),             \
                 SUM(sums[62]), SUM(sums[63])                                                                          \
               : __VA_ARGS__, "l"(b), "r"(clear ? 1 : 0))
#define SWINSCOPE_WGMMA_128_SHARED(SUM, KIND, SIGNS) SWINSCOPE_WGMMA_128(SUM, KIND, "%66", "%64, %65, p" SIGNS, "l"(a))
#define SWINSCOPE_WGMMA_128_REGISTERS(KIND, SIGNS)                                                              \
  SWINSCOPE_WGMMA_128("+f", KIND, "%69", "{%64, %65, %66, %67}, %68, p" SIGNS, "r"(a[0]), "r"(a[1]), "r"(a[2]), \
                      "r"(a[3]))

template <>
struct WarpGroupProduct<__half, 128> {
  static __device__ void add(float (&sums)[64], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_SHARED("+f", "k16.f32.f16.f16", ", 1, 1, 0, 0");
  }
  static __device__ void add(float (&sums)[64], const std::uint32_t (&a)[4], std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_REGISTERS("k16.f32.f16.f16", ", 1, 1, 0");
  }
};
template <>
struct WarpGroupProduct<__nv_bfloat16, 128> {
  static __device__ void add(float (&sums)[64], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_SHARED("+f", "k16.f32.bf16.bf16", ", 1, 1, 0, 0");
  }
  static __device__ void add(float (&sums)[64], const std::uint32_t (&a)[4], std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_REGISTERS("k16.f32.bf16.bf16", ", 1, 1, 0");
  }
};
template <>
struct WarpGroupProduct<__nv_fp8_e4m3, 128> {
  static __device__ void add(float (&sums)[64], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_SHARED("+f", "k32.f32.e4m3.e4m3", ", 1, 1");
  }
  // a as mma.m16n8k32 has it.
  static __device__ void add(float (&sums)[64], const std::uint32_t (&a)[4], std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_REGISTERS("k32.f32.e4m3.e4m3", ", 1, 1");
  }
};
SWINSCOPE_WGMMA_OF(std::int8_t, 128, int, SWINSCOPE_WGMMA_128_SHARED, "+r", "k32.s32.s8.s8", "");
#undef SWINSCOPE_WGMMA_128_REGISTERS
#undef SWINSCOPE_WGMMA_128_SHARED
#undef SWINSCOPE_WGMMA_128

// sums += a b^T, or = where `clear`; a and b by their descriptors.
#define SWINSCOPE_WGMMA_192(SUM, KIND, SIGNS)                                                                    \
  asm volatile(                                                                                                  \
      "{\n.reg .pred p;\nsetp.eq.b32 p, %98, 0;\n"                                                               \
      "wgmma.mma_async.sync.aligned.m64n192" KIND                                                                \
      " "                                                                                                        \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                  \
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                        \
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                        \
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "                        \
      " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                        \
      " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "                       \
      "%96, %97, p" SIGNS ";\n}\n"                                                                               \
      : SUM(sums[0]), SUM(sums[1]), SUM(sums[2]), SUM(sums[3]), SUM(sums[4]), SUM(sums[5]), SUM(sums[6]),        \
        SUM(sums[7]), SUM(sums[8]), SUM(sums[9]), SUM(sums[10]), SUM(sums[11]), SUM(sums[12]), SUM(sums[13]),    \
        SUM(sums[14]), SUM(sums[15]), SUM(sums[16]), SUM(sums[17]), SUM(sums[18]), SUM(sums[19]), SUM(sums[20]), \
        SUM(sums[21]), SUM(sums[22]), SUM(sums[23]), SUM(sums[24]), SUM(sums[25]), SUM(sums[26]), SUM(sums[27]), \
        SUM(sums[28]), SUM(sums[29]), SUM(sums[30]), SUM(sums[31]), SUM(sums[32]), SUM(sums[33]), SUM(sums[34]), \
        SUM(sums[35]), SUM(sums[36]), SUM(sums[37]), SUM(sums[38]), SUM(sums[39]), SUM(sums[40]), SUM(sums[41]), \
        SUM(sums[42]), SUM(sums[43]), SUM(sums[44]), SUM(sums[45]), SUM(sums[46]), SUM(sums[47]), SUM(sums[48]), \
        SUM(sums[49]), SUM(sums[50]), SUM(sums[51]), SUM(sums[52]), SUM(sums[53]), SUM(sums[54]), SUM(sums[55]), \
        SUM(sums[56]), SUM(sums[57]), SUM(sums[58]), SUM(sums[59]), SUM(sums[60]), SUM(sums[61]), SUM(sums[62]), \
        SUM(sums[63]), SUM(sums[64]), SUM(sums[65]), SUM(sums[66]), SUM(sums[67]), SUM(sums[68]), SUM(sums[69]), \
        SUM(sums[70]), SUM(sums[71]), SUM(sums[72]), SUM(sums[73]), SUM(sums[74]), SUM(sums[75]), SUM(sums[76]), \
        SUM(sums[77]), SUM(sums[78]), SUM(sums[79]), SUM(sums[80]), SUM(sums[81]), SUM(sums[82]), SUM(sums[83]), \
        SUM(sums[84]), SUM(sums[85]), SUM(sums[86]), SUM(sums[87]), SUM(sums[88]), SUM(sums[89]), SUM(sums[90]), \
        SUM(sums[91]), SUM(sums[92]), SUM(sums[93]), SUM(sums[94]), SUM(sums[95])                                \
      : "l"(a), "l"(b), "r"(clear ? 1 : 0))

SWINSCOPE_WGMMA_OF_HALVES(192, SWINSCOPE_WGMMA_192);
SWINSCOPE_WGMMA_OF_BYTES(192, SWINSCOPE_WGMMA_192);
#undef SWINSCOPE_WGMMA_192

// sums += a b^T, or = where `clear`; a and b by their descriptors.
#define SWINSCOPE_WGMMA_256(SUM, KIND, SIGNS)                                                                         \
  asm volatile(                                                                                                       \
      "{\n.reg .pred p;\nsetp.eq.b32 p, %130, 0;\n"                                                                   \
      "wgmma.mma_async.sync.aligned.m64n256" KIND                                                                     \
      " "                                                                                                             \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                       \
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                             \
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                             \
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "                             \
      " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                             \
      " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                             \
      " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "                 \
      " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "            \
      "%128, %129, p" SIGNS ";\n}\n"                                                                                  \
      : SUM(sums[0]), SUM(sums[1]), SUM(sums[2]), SUM(sums[3]), SUM(sums[4]), SUM(sums[5]), SUM(sums[6]),             \
        SUM(sums[7]), SUM(sums[8]), SUM(sums[9]), SUM(sums[10]), SUM(sums[11]), SUM(sums[12]), SUM(sums[13]),         \
        SUM(sums[14]), SUM(sums[15]), SUM(sums[16]), SUM(sums[17]), SUM(sums[18]), SUM(sums[19]), SUM(sums[20]),      \
        SUM(sums[21]), SUM(sums[22]), SUM(sums[23]), SUM(sums[24]), SUM(sums[25]), SUM(sums[26]), SUM(sums[27]),      \
        SUM(sums[28]), SUM(sums[29]), SUM(sums[30]), SUM(sums[31]), SUM(sums[32]), SUM(sums[33]), SUM(sums[34]),      \
        SUM(sums[35]), SUM(sums[36]), SUM(sums[37]), SUM(sums[38]), SUM(sums[39]), SUM(sums[40]), SUM(sums[41]),      \
        SUM(sums[42]), SUM(sums[43]), SUM(sums[44]), SUM(sums[45]), SUM(sums[46]), SUM(sums[47]), SUM(sums[48]),      \
        SUM(sums[49]), SUM(sums[50]), SUM(sums[51]), SUM(sums[52]), SUM(sums[53]), SUM(sums[54]), SUM(sums[55]),      \
        SUM(sums[56]), SUM(sums[57]), SUM(sums[58]), SUM(sums[59]), SUM(sums[60]), SUM(sums[61]), SUM(sums[62]),      \
        SUM(sums[63]), SUM(sums[64]), SUM(sums[65]), SUM(sums[66]), SUM(sums[67]), SUM(sums[68]), SUM(sums[69]),      \
        SUM(sums[70]), SUM(sums[71]), SUM(sums[72]), SUM(sums[73]), SUM(sums[74]), SUM(sums[75]), SUM(sums[76]),      \
        SUM(sums[77]), SUM(sums[78]), SUM(sums[79]), SUM(sums[80]), SUM(sums[81]), SUM(sums[82]), SUM(sums[83]),      \
        SUM(sums[84]), SUM(sums[85]), SUM(sums[86]), SUM(sums[87]), SUM(sums[88]), SUM(sums[89]), SUM(sums[90]),      \
        SUM(sums[91]), SUM(sums[92]), SUM(sums[93]), SUM(sums[94]), SUM(sums[95]), SUM(sums[96]), SUM(sums[97]),      \
        SUM(sums[98]), SUM(sums[99]), SUM(sums[100]), SUM(sums[101]), SUM(sums[102]), SUM(sums[103]), SUM(sums[104]), \
        SUM(sums[105]), SUM(sums[106]), SUM(sums[107]), SUM(sums[108]), SUM(sums[109]), SUM(sums[110]),               \
        SUM(sums[111]), SUM(sums[112]), SUM(sums[113]), SUM(sums[114]), SUM(sums[115]), SUM(sums[116]),               \
        SUM(sums[117]), SUM(sums[118]), SUM(sums[119]), SUM(sums[120]), SUM(sums[121]), SUM(sums[122]),               \
        SUM(sums[123]), SUM(sums[124]), SUM(sums[125]), SUM(sums[126]), SUM(sums[127])                                \
      : "l"(a), "l"(b), "r"(clear ? 1 : 0))

SWINSCOPE_WGMMA_OF_HALVES(256, SWINSCOPE_WGMMA_256);
SWINSCOPE_WGMMA_OF_BYTES(256, SWINSCOPE_WGMMA_256);
#undef SWINSCOPE_WGMMA_256
#undef SWINSCOPE_WGMMA_OF_BYTES
#undef SWINSCOPE_WGMMA_OF_HALVES
#undef SWINSCOPE_WGMMA_OF

}  // namespace swinscope::cuda
