// Barriers, warp shuffles and votes. Macros where the line of the call is wanted for the message of a deadlock.
#pragma once

static constexpr int warpSize = emulator::warp_size;

#define __syncthreads() ((void)emulator::barrier(__LINE__))
#define __syncthreads_count(p) emulator::barrier(__LINE__, emulator::Vote::count, (p) != 0)
#define __syncthreads_and(p) emulator::barrier(__LINE__, emulator::Vote::all, (p) != 0)
#define __syncthreads_or(p) emulator::barrier(__LINE__, emulator::Vote::any, (p) != 0)

#define __syncwarp(...) emulator::sync_warp(__LINE__, ##__VA_ARGS__)
#define __ballot_sync(mask, p) emulator::ballot(mask, (p) != 0, __LINE__)
#define __any_sync(mask, p) (emulator::ballot(mask, (p) != 0, __LINE__) != 0)
#define __all_sync(mask, p) (emulator::ballot(mask, (p) == 0, __LINE__) == 0)
#define __activemask() emulator::alive()
#define __nanosleep(nanoseconds) ((void)(nanoseconds), emulator::pause())

#define __shfl_sync(mask, ...) emulator::shuffle(__LINE__, mask, __VA_ARGS__)
#define __shfl_up_sync(mask, ...) emulator::shuffle_up(__LINE__, mask, __VA_ARGS__)
#define __shfl_down_sync(mask, ...) emulator::shuffle_down(__LINE__, mask, __VA_ARGS__)
#define __shfl_xor_sync(mask, ...) emulator::shuffle_xor(__LINE__, mask, __VA_ARGS__)
#define __match_any_sync(mask, value) emulator::match_any(__LINE__, mask, value)
#define __reduce_add_sync(mask, value) emulator::reduce(__LINE__, mask, value, [](auto a, auto b) { return a + b; })
#define __reduce_min_sync(mask, value) emulator::reduce(__LINE__, mask, value, [](auto a, auto b) { return b < a ? b : a; })
#define __reduce_max_sync(mask, value) emulator::reduce(__LINE__, mask, value, [](auto a, auto b) { return a < b ? b : a; })
#define __reduce_and_sync(mask, value) emulator::reduce(__LINE__, mask, value, [](auto a, auto b) { return a & b; })
#define __reduce_or_sync(mask, value) emulator::reduce(__LINE__, mask, value, [](auto a, auto b) { return a | b; })
#define __reduce_xor_sync(mask, value) emulator::reduce(__LINE__, mask, value, [](auto a, auto b) { return a ^ b; })

namespace emulator {

static inline void sync_warp(int line, unsigned int mask = 0xFFFFFFFFu) { ballot(mask, false, line); }

// The device shuffles 4- and 8-byte numbers; smaller integers are promoted, as its overloads do.
template <class T>
static auto shuffle_to(int line, unsigned int mask, T value, int source) {
    static_assert(std::is_arithmetic_v<T>, "the device shuffles arithmetic types only");
    using R = decltype(+value);
    const R sent = value;
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &sent, sizeof sent);
    bits = exchange(mask, bits, source, line);
    R got;
    __builtin_memcpy(&got, &bits, sizeof got);
    return got;
}

template <class T>
static auto shuffle(int line, unsigned int mask, T value, int source, int width = warp_size) {
    return shuffle_to(line, mask, value, (lane() & ~(width - 1)) + (source & (width - 1)));
}

template <class T>
static auto shuffle_up(int line, unsigned int mask, T value, unsigned int delta, int width = warp_size) {
    const int source = lane() - int(delta);
    return shuffle_to(line, mask, value, source < (lane() & ~(width - 1)) ? lane() : source);
}

template <class T>
static auto shuffle_down(int line, unsigned int mask, T value, unsigned int delta, int width = warp_size) {
    const int source = lane() + int(delta);
    return shuffle_to(line, mask, value, source > (lane() | (width - 1)) ? lane() : source);
}

template <class T>
static auto shuffle_xor(int line, unsigned int mask, T value, int flip, int width = warp_size) {
    const int source = lane() ^ flip;
    return shuffle_to(line, mask, value, source > (lane() | (width - 1)) ? lane() : source);
}

template <class T, class F>
static T reduce(int line, unsigned int mask, T value, F combine) {
    mask &= alive();
    T result = shuffle(line, mask, value, __builtin_ctz(mask));
    for (unsigned int rest = mask & (mask - 1); rest; rest &= rest - 1)
        result = combine(result, T(shuffle(line, mask, value, __builtin_ctz(rest))));
    return result;
}

template <class T>
static unsigned int match_any(int line, unsigned int mask, T value) {
    unsigned int same = 0;
    for (unsigned int rest = mask & alive(); rest; rest &= rest - 1) {
        const int other = __builtin_ctz(rest);
        if (shuffle(line, mask, value, other) == value) same |= 1u << other;
    }
    return same;
}

}  // namespace emulator
