// Atomic functions, for exactly the types for which the device has them. One thread runs at a time: nothing to lock.
#pragma once

#define ATOMIC(name, T, expression)                                       \
    static inline T name(T* address, T value) {                           \
        const T old = *address;                                           \
        *address = expression;                                            \
        __threadfence();                                                  \
        return old;                                                       \
    }                                                                     \
    static inline T name##_block(T* a, T value) { return name(a, value); } \
    static inline T name##_system(T* a, T value) { return name(a, value); }

#define FOR_INTEGERS(M, name, expression)       \
    M(name, int, expression)                    \
    M(name, unsigned int, expression)           \
    M(name, unsigned long long, expression)

FOR_INTEGERS(ATOMIC, atomicAdd, old + value)
ATOMIC(atomicAdd, float, old + value)
ATOMIC(atomicAdd, double, old + value)
ATOMIC(atomicSub, int, old - value)
ATOMIC(atomicSub, unsigned int, old - value)
FOR_INTEGERS(ATOMIC, atomicExch, value)
ATOMIC(atomicExch, float, value)
FOR_INTEGERS(ATOMIC, atomicMin, value < old ? value : old)
ATOMIC(atomicMin, long long, value < old ? value : old)
FOR_INTEGERS(ATOMIC, atomicMax, old < value ? value : old)
ATOMIC(atomicMax, long long, old < value ? value : old)
FOR_INTEGERS(ATOMIC, atomicAnd, old & value)
FOR_INTEGERS(ATOMIC, atomicOr, old | value)
FOR_INTEGERS(ATOMIC, atomicXor, old ^ value)
ATOMIC(atomicInc, unsigned int, old >= value ? 0 : old + 1)
ATOMIC(atomicDec, unsigned int, old == 0 || old > value ? value : old - 1)
#undef FOR_INTEGERS
#undef ATOMIC

#define ATOMIC_CAS(T)                                                                                              \
    static inline T atomicCAS(T* address, T compare, T value) {                                                    \
        const T old = *address;                                                                                    \
        if (old == compare) *address = value;                                                                      \
        __threadfence();                                                                                           \
        return old;                                                                                                \
    }                                                                                                              \
    static inline T atomicCAS_block(T* a, T compare, T value) { return atomicCAS(a, compare, value); }             \
    static inline T atomicCAS_system(T* a, T compare, T value) { return atomicCAS(a, compare, value); }

ATOMIC_CAS(int)
ATOMIC_CAS(unsigned int)
ATOMIC_CAS(unsigned long long)
ATOMIC_CAS(unsigned short)
#undef ATOMIC_CAS
