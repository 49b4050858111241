// The warp group product of Hopper (PTX ISA, wgmma.mma_async): 64 x kColumns sums in fp32, spread over 128 threads, of
// 64 x 16 and kColumns x 16 operands of 16 bits, or 64 x 32 and kColumns x 32 of 8 bits, in shared memory. With g =
// lane / 4 and t = lane % 4, warp w has rows 16 w + g and 16 w + g + 8, and of each 8 columns 2 t and 2 t + 1: element
// 4 j + e of a thread's sums is row 16 w + g + 8 (e / 2), column 8 j + 2 t + e % 2.
//
// The instruction wants each of its registers by name, hence the long lists. KIND: depth and types of its operands;
// LAYOUTS: only those of 16 bits name how they lie.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace swinscope::cuda {

template <typename T, int kColumns>
struct WarpGroupProduct;

// sums += a b^T, or = where `clear`; a and b by their descriptors.
#define SWINSCOPE_WGMMA_32(KIND, LAYOUTS)                                                                            \
  asm volatile(                                                                                                      \
      "{\n.reg .pred p;\nsetp.eq.b32 p, %18, 0;\n"                                                                   \
      "wgmma.mma_async.sync.aligned.m64n32" KIND                                                                     \
      " "                                                                                                            \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "                                     \
      "%16, %17, p, 1, 1" LAYOUTS ";\n}\n"                                                                           \
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]), "+f"(sums[6]),     \
        "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]), "+f"(sums[12]), "+f"(sums[13]), \
        "+f"(sums[14]), "+f"(sums[15])                                                                               \
      : "l"(a), "l"(b), "r"(clear ? 1 : 0))

template <>
struct WarpGroupProduct<__half, 32> {
  static __device__ void add(float (&sums)[16], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_32("k16.f32.f16.f16", ", 0, 0");
  }
};
template <>
struct WarpGroupProduct<__nv_bfloat16, 32> {
  static __device__ void add(float (&sums)[16], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_32("k16.f32.bf16.bf16", ", 0, 0");
  }
};
template <>
struct WarpGroupProduct<__nv_fp8_e4m3, 32> {
  static __device__ void add(float (&sums)[16], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_32("k32.f32.e4m3.e4m3", "");
  }
};
#undef SWINSCOPE_WGMMA_32

// sums += a b^T, or = where `clear`; a and b by their descriptors.
#define SWINSCOPE_WGMMA_64(KIND, LAYOUTS)                                                                            \
  asm volatile(                                                                                                      \
      "{\n.reg .pred p;\nsetp.eq.b32 p, %34, 0;\n"                                                                   \
      "wgmma.mma_async.sync.aligned.m64n64" KIND                                                                     \
      " "                                                                                                            \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                      \
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "                           \
      "%32, %33, p, 1, 1" LAYOUTS ";\n}\n"                                                                           \
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]), "+f"(sums[6]),     \
        "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]), "+f"(sums[12]), "+f"(sums[13]), \
        "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]), "+f"(sums[18]), "+f"(sums[19]),              \
        "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]), "+f"(sums[24]), "+f"(sums[25]),              \
        "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]), "+f"(sums[30]), "+f"(sums[31])               \
      : "l"(a), "l"(b), "r"(clear ? 1 : 0))

template <>
struct WarpGroupProduct<__half, 64> {
  static __device__ void add(float (&sums)[32], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_64("k16.f32.f16.f16", ", 0, 0");
  }
};
template <>
struct WarpGroupProduct<__nv_bfloat16, 64> {
  static __device__ void add(float (&sums)[32], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_64("k16.f32.bf16.bf16", ", 0, 0");
  }
};
template <>
struct WarpGroupProduct<__nv_fp8_e4m3, 64> {
  static __device__ void add(float (&sums)[32], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_64("k32.f32.e4m3.e4m3", "");
  }
};
#undef SWINSCOPE_WGMMA_64

// sums += a b^T, or = where `clear`; a and b by their descriptors, or a in registers, as mma.m16n8k16 has it.
#define SWINSCOPE_WGMMA_96(KIND, CLEAR, OPERANDS, ...)                                                                \
  asm volatile("{\n.reg .pred p;\nsetp.eq.b32 p, " CLEAR                                                              \
               ", 0;\n"                                                                                               \
               "wgmma.mma_async.sync.aligned.m64n96" KIND                                                             \
               " "                                                                                                    \
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                              \
               " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                    \
               " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, " OPERANDS ";\n}\n" \
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),            \
                 "+f"(sums[6]), "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]),          \
                 "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]),      \
                 "+f"(sums[18]), "+f"(sums[19]), "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]),      \
                 "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]),      \
                 "+f"(sums[30]), "+f"(sums[31]), "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35]),      \
                 "+f"(sums[36]), "+f"(sums[37]), "+f"(sums[38]), "+f"(sums[39]), "+f"(sums[40]), "+f"(sums[41]),      \
                 "+f"(sums[42]), "+f"(sums[43]), "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47])       \
               : __VA_ARGS__, "l"(b), "r"(clear ? 1 : 0))
#define SWINSCOPE_WGMMA_96_SHARED(KIND, LAYOUTS) SWINSCOPE_WGMMA_96(KIND, "%50", "%48, %49, p, 1, 1" LAYOUTS, "l"(a))
#define SWINSCOPE_WGMMA_96_REGISTERS(KIND) \
  SWINSCOPE_WGMMA_96(KIND, "%53", "{%48, %49, %50, %51}, %52, p, 1, 1, 0", "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]))

template <>
struct WarpGroupProduct<__half, 96> {
  static __device__ void add(float (&sums)[48], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_96_SHARED("k16.f32.f16.f16", ", 0, 0");
  }
  static __device__ void add(float (&sums)[48], const std::uint32_t (&a)[4], std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_96_REGISTERS("k16.f32.f16.f16");
  }
};
template <>
struct WarpGroupProduct<__nv_bfloat16, 96> {
  static __device__ void add(float (&sums)[48], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_96_SHARED("k16.f32.bf16.bf16", ", 0, 0");
  }
  static __device__ void add(float (&sums)[48], const std::uint32_t (&a)[4], std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_96_REGISTERS("k16.f32.bf16.bf16");
  }
};
template <>
struct WarpGroupProduct<__nv_fp8_e4m3, 96> {
  static __device__ void add(float (&sums)[48], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_96_SHARED("k32.f32.e4m3.e4m3", "");
  }
};
#undef SWINSCOPE_WGMMA_96_REGISTERS
#undef SWINSCOPE_WGMMA_96_SHARED
#undef SWINSCOPE_WGMMA_96

// sums += a b^T, or = where `clear`; a and b by their descriptors, or a in registers, as mma.m16n8k16 has it.
#define SWINSCOPE_WGMMA_128(KIND, CLEAR, OPERANDS, ...)                                                               \
  asm volatile("{\n.reg .pred p;\nsetp.eq.b32 p, " CLEAR                                                              \
               ", 0;\n"                                                                                               \
               "wgmma.mma_async.sync.aligned.m64n128" KIND                                                            \
               " "                                                                                                    \
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                              \
               " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                    \
               " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                    \
               " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, " OPERANDS ";\n}\n" \
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),            \
                 "+f"(sums[6]), "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]),          \
                 "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]),      \
                 "+f"(sums[18]), "+f"(sums[19]), "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]),      \
                 "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]),      \
                 "+f"(sums[30]), "+f"(sums[31]), "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35]),      \
                 "+f"(sums[36]), "+f"(sums[37]), "+f"(sums[38]), "+f"(sums[39]), "+f"(sums[40]), "+f"(sums[41]),      \
                 "+f"(sums[42]), "+f"(sums[43]), "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47]),      \
                 "+f"(sums[48]), "+f"(sums[49]), "+f"(sums[50]), "+f"(sums[51]), "+f"(sums[52]), "+f"(sums[53]),      \
                 "+f"(sums[54]), "+f"(sums[55]), "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59]),      \
                 "+f"(sums[60]), "+f"(sums[61]), "+f"(sums[62]), "+f"(sums[63])                                       \
               : __VA_ARGS__, "l"(b), "r"(clear ? 1 : 0))
#define SWINSCOPE_WGMMA_128_SHARED(KIND, LAYOUTS) SWINSCOPE_WGMMA_128(KIND, "%66", "%64, %65, p, 1, 1" LAYOUTS, "l"(a))
#define SWINSCOPE_WGMMA_128_REGISTERS(KIND) \
  SWINSCOPE_WGMMA_128(KIND, "%69", "{%64, %65, %66, %67}, %68, p, 1, 1, 0", "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]))

template <>
struct WarpGroupProduct<__half, 128> {
  static __device__ void add(float (&sums)[64], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_SHARED("k16.f32.f16.f16", ", 0, 0");
  }
  static __device__ void add(float (&sums)[64], const std::uint32_t (&a)[4], std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_REGISTERS("k16.f32.f16.f16");
  }
};
template <>
struct WarpGroupProduct<__nv_bfloat16, 128> {
  static __device__ void add(float (&sums)[64], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_SHARED("k16.f32.bf16.bf16", ", 0, 0");
  }
  static __device__ void add(float (&sums)[64], const std::uint32_t (&a)[4], std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_REGISTERS("k16.f32.bf16.bf16");
  }
};
template <>
struct WarpGroupProduct<__nv_fp8_e4m3, 128> {
  static __device__ void add(float (&sums)[64], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_128_SHARED("k32.f32.e4m3.e4m3", "");
  }
};
#undef SWINSCOPE_WGMMA_128_REGISTERS
#undef SWINSCOPE_WGMMA_128_SHARED
#undef SWINSCOPE_WGMMA_128

// sums += a b^T, or = where `clear`; a and b by their descriptors.
#define SWINSCOPE_WGMMA_192(KIND, LAYOUTS)                                                                           \
  asm volatile(                                                                                                      \
      "{\n.reg .pred p;\nsetp.eq.b32 p, %98, 0;\n"                                                                   \
      "wgmma.mma_async.sync.aligned.m64n192" KIND                                                                    \
      " "                                                                                                            \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                      \
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                            \
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                            \
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "                            \
      " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                            \
      " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "                           \
      "%96, %97, p, 1, 1" LAYOUTS ";\n}\n"                                                                           \
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]), "+f"(sums[6]),     \
        "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]), "+f"(sums[12]), "+f"(sums[13]), \
        "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]), "+f"(sums[18]), "+f"(sums[19]),              \
        "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]), "+f"(sums[24]), "+f"(sums[25]),              \
        "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]), "+f"(sums[30]), "+f"(sums[31]),              \
        "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35]), "+f"(sums[36]), "+f"(sums[37]),              \
        "+f"(sums[38]), "+f"(sums[39]), "+f"(sums[40]), "+f"(sums[41]), "+f"(sums[42]), "+f"(sums[43]),              \
        "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47]), "+f"(sums[48]), "+f"(sums[49]),              \
        "+f"(sums[50]), "+f"(sums[51]), "+f"(sums[52]), "+f"(sums[53]), "+f"(sums[54]), "+f"(sums[55]),              \
        "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59]), "+f"(sums[60]), "+f"(sums[61]),              \
        "+f"(sums[62]), "+f"(sums[63]), "+f"(sums[64]), "+f"(sums[65]), "+f"(sums[66]), "+f"(sums[67]),              \
        "+f"(sums[68]), "+f"(sums[69]), "+f"(sums[70]), "+f"(sums[71]), "+f"(sums[72]), "+f"(sums[73]),              \
        "+f"(sums[74]), "+f"(sums[75]), "+f"(sums[76]), "+f"(sums[77]), "+f"(sums[78]), "+f"(sums[79]),              \
        "+f"(sums[80]), "+f"(sums[81]), "+f"(sums[82]), "+f"(sums[83]), "+f"(sums[84]), "+f"(sums[85]),              \
        "+f"(sums[86]), "+f"(sums[87]), "+f"(sums[88]), "+f"(sums[89]), "+f"(sums[90]), "+f"(sums[91]),              \
        "+f"(sums[92]), "+f"(sums[93]), "+f"(sums[94]), "+f"(sums[95])                                               \
      : "l"(a), "l"(b), "r"(clear ? 1 : 0))

template <>
struct WarpGroupProduct<__half, 192> {
  static __device__ void add(float (&sums)[96], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_192("k16.f32.f16.f16", ", 0, 0");
  }
};
template <>
struct WarpGroupProduct<__nv_bfloat16, 192> {
  static __device__ void add(float (&sums)[96], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_192("k16.f32.bf16.bf16", ", 0, 0");
  }
};
template <>
struct WarpGroupProduct<__nv_fp8_e4m3, 192> {
  static __device__ void add(float (&sums)[96], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_192("k32.f32.e4m3.e4m3", "");
  }
};
#undef SWINSCOPE_WGMMA_192

// sums += a b^T, or = where `clear`; a and b by their descriptors.
#define SWINSCOPE_WGMMA_256(KIND, LAYOUTS)                                                                           \
  asm volatile(                                                                                                      \
      "{\n.reg .pred p;\nsetp.eq.b32 p, %130, 0;\n"                                                                  \
      "wgmma.mma_async.sync.aligned.m64n256" KIND                                                                    \
      " "                                                                                                            \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                      \
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "                            \
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                            \
      " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "                            \
      " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                            \
      " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                            \
      " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "                \
      " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "           \
      "%128, %129, p, 1, 1" LAYOUTS ";\n}\n"                                                                         \
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]), "+f"(sums[6]),     \
        "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]), "+f"(sums[12]), "+f"(sums[13]), \
        "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]), "+f"(sums[18]), "+f"(sums[19]),              \
        "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]), "+f"(sums[24]), "+f"(sums[25]),              \
        "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]), "+f"(sums[30]), "+f"(sums[31]),              \
        "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35]), "+f"(sums[36]), "+f"(sums[37]),              \
        "+f"(sums[38]), "+f"(sums[39]), "+f"(sums[40]), "+f"(sums[41]), "+f"(sums[42]), "+f"(sums[43]),              \
        "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47]), "+f"(sums[48]), "+f"(sums[49]),              \
        "+f"(sums[50]), "+f"(sums[51]), "+f"(sums[52]), "+f"(sums[53]), "+f"(sums[54]), "+f"(sums[55]),              \
        "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59]), "+f"(sums[60]), "+f"(sums[61]),              \
        "+f"(sums[62]), "+f"(sums[63]), "+f"(sums[64]), "+f"(sums[65]), "+f"(sums[66]), "+f"(sums[67]),              \
        "+f"(sums[68]), "+f"(sums[69]), "+f"(sums[70]), "+f"(sums[71]), "+f"(sums[72]), "+f"(sums[73]),              \
        "+f"(sums[74]), "+f"(sums[75]), "+f"(sums[76]), "+f"(sums[77]), "+f"(sums[78]), "+f"(sums[79]),              \
        "+f"(sums[80]), "+f"(sums[81]), "+f"(sums[82]), "+f"(sums[83]), "+f"(sums[84]), "+f"(sums[85]),              \
        "+f"(sums[86]), "+f"(sums[87]), "+f"(sums[88]), "+f"(sums[89]), "+f"(sums[90]), "+f"(sums[91]),              \
        "+f"(sums[92]), "+f"(sums[93]), "+f"(sums[94]), "+f"(sums[95]), "+f"(sums[96]), "+f"(sums[97]),              \
        "+f"(sums[98]), "+f"(sums[99]), "+f"(sums[100]), "+f"(sums[101]), "+f"(sums[102]), "+f"(sums[103]),          \
        "+f"(sums[104]), "+f"(sums[105]), "+f"(sums[106]), "+f"(sums[107]), "+f"(sums[108]), "+f"(sums[109]),        \
        "+f"(sums[110]), "+f"(sums[111]), "+f"(sums[112]), "+f"(sums[113]), "+f"(sums[114]), "+f"(sums[115]),        \
        "+f"(sums[116]), "+f"(sums[117]), "+f"(sums[118]), "+f"(sums[119]), "+f"(sums[120]), "+f"(sums[121]),        \
        "+f"(sums[122]), "+f"(sums[123]), "+f"(sums[124]), "+f"(sums[125]), "+f"(sums[126]), "+f"(sums[127])         \
      : "l"(a), "l"(b), "r"(clear ? 1 : 0))

template <>
struct WarpGroupProduct<__half, 256> {
  static __device__ void add(float (&sums)[128], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_256("k16.f32.f16.f16", ", 0, 0");
  }
};
template <>
struct WarpGroupProduct<__nv_bfloat16, 256> {
  static __device__ void add(float (&sums)[128], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_256("k16.f32.bf16.bf16", ", 0, 0");
  }
};
template <>
struct WarpGroupProduct<__nv_fp8_e4m3, 256> {
  static __device__ void add(float (&sums)[128], std::uint64_t a, std::uint64_t b, bool clear) {
    SWINSCOPE_WGMMA_256("k32.f32.e4m3.e4m3", "");
  }
};
#undef SWINSCOPE_WGMMA_256

}  // namespace swinscope::cuda
