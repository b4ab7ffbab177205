// char1 ... double4 and their make_ functions, aligned as on the device (vector loads rely on it).
#pragma once

#define VECTOR(T, name, align2, align4)                                                                       \
    struct name##1 { T x; };                                                                                  \
    struct alignas(align2) name##2 { T x, y; };                                                               \
    struct name##3 { T x, y, z; };                                                                            \
    struct alignas(align4) name##4 { T x, y, z, w; };                                                         \
    static inline name##1 make_##name##1(T x) { return {x}; }                                                 \
    static inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                         \
    static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                 \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

VECTOR(signed char, char, 2, 4)
VECTOR(unsigned char, uchar, 2, 4)
VECTOR(short, short, 4, 8)
VECTOR(unsigned short, ushort, 4, 8)
VECTOR(int, int, 8, 16)
VECTOR(long, long, 16, 16)
VECTOR(unsigned long, ulong, 16, 16)
VECTOR(long long, longlong, 16, 16)
VECTOR(unsigned long long, ulonglong, 16, 16)
VECTOR(float, float, 8, 16)
VECTOR(double, double, 16, 16)
#undef VECTOR

// uint3 is the type of threadIdx and is declared with it.
struct uint1 { unsigned int x; };
struct alignas(8) uint2 { unsigned int x, y; };
struct alignas(16) uint4 { unsigned int x, y, z, w; };
static inline uint1 make_uint1(unsigned int x) { return {x}; }
static inline uint2 make_uint2(unsigned int x, unsigned int y) { return {x, y}; }
static inline uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return {x, y, z}; }
static inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return {x, y, z, w}; }
