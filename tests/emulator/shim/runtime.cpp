// The machine: runs the blocks of a launch one after the other, and the threads of a block as fibers.
#include "runtime.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "fiber.h"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
int emulator_functions_are_off = 1;

namespace emulator {

alignas(1024) unsigned char dynamic_shared[most_shared + 1024];

namespace {

constexpr int most_threads = 1024;
constexpr unsigned char poison = 0xFF;  // what nobody wrote: NaN as a float, -1 as an integer
constexpr uint64_t poison_word = ~uint64_t(0);

enum class State : unsigned char { ready, at_barrier, in_warp, exited };
enum class Kind : unsigned char { exchange, ballot };

struct Thread {
    Fiber fiber;
    uint3 index;
    State state;
    Kind kind;
    bool predicate;
    int line;
    int source;
    unsigned int mask;
    uint64_t value;  // what the thread brings to a collective, then what it takes away
};

// One launch, as Python describes it (executor.py holds the same layout).
struct Launch {
    void (*entry)(void* const*);
    void* const* parameters;
    unsigned char* static_shared;
    size_t static_shared_bytes;
    size_t shared;
    unsigned int grid[3];
    unsigned int block[3];
    const int* blocks;  // the numbers of those to run; null: all of them
    int blocks_count;
    uint64_t seed;  // 0: in order; else blocks and threads start in an order drawn from it
    double timeout;
    int fibers;
    int error_bytes;
    char* error;
};

const Launch* launch;
Thread threads[most_threads];
Thread* current;
Context scheduler;
int count, waiting, exited;
uint64_t vote_count;
jmp_buf abandoned;
bool by_fiber;

Thread* warp_of(const Thread* thread) { return threads + (thread - threads) / warp_size * warp_size; }
int lane_of(const Thread* thread) { return int(thread - threads) % warp_size; }
int lanes(const Thread* warp) { return std::min(warp_size, count - int(warp - threads)); }

void yield() { switch_context(current->fiber.context, scheduler); }

void release_barrier() {
    if (waiting == 0 || waiting + exited < count) return;
    const Thread* first = nullptr;
    vote_count = 0;
    int voters = 0;
    for (int i = 0; i < count; ++i) {
        const Thread& t = threads[i];
        if (t.state != State::at_barrier) continue;
        if (!first) first = &t;
        if (t.line != first->line)
            fail("threads of one block wait at different barriers: (%u, %u, %u) at line %d, (%u, %u, %u) at line %d",
                 first->index.x, first->index.y, first->index.z, first->line, t.index.x, t.index.y, t.index.z, t.line);
        ++voters;
        vote_count += t.predicate;
    }
    for (int i = 0; i < count; ++i) {
        Thread& t = threads[i];
        if (t.state != State::at_barrier) continue;
        t.value = Vote(t.mask) == Vote::count ? vote_count
                  : Vote(t.mask) == Vote::all ? vote_count == uint64_t(voters)
                                              : vote_count != 0;
        t.state = State::ready;
    }
    waiting = 0;
}

unsigned int alive_in(const Thread* warp) {
    unsigned int mask = 0;
    for (int i = 0; i < lanes(warp); ++i)
        if (warp[i].state != State::exited) mask |= 1u << i;
    return mask;
}

// Finish the collective over `mask` if every lane that has not exited has come.
void release_warp(Thread* warp, unsigned int mask, Kind kind) {
    const unsigned int needed = mask & alive_in(warp);
    unsigned int votes = 0;
    uint64_t values[warp_size];
    for (int i = 0; i < warp_size; ++i) {
        values[i] = poison_word;
        if (!(needed >> i & 1)) continue;
        const Thread& t = warp[i];
        if (t.state != State::in_warp || t.mask != mask || t.kind != kind) return;
        values[i] = t.value;
        votes |= unsigned(t.predicate) << i;
    }
    for (int i = 0; i < warp_size; ++i) {
        if (!(needed >> i & 1)) continue;
        warp[i].value = kind == Kind::ballot ? votes : values[warp[i].source];
        warp[i].state = State::ready;
    }
}

uint64_t collective(unsigned int mask, Kind kind, uint64_t value, int source, bool predicate, int line) {
    Thread* warp = warp_of(current);
    if (!(mask >> lane_of(current) & 1))
        fail("lane %d calls a warp function at line %d with mask %#x, which leaves it out", lane_of(current), line, mask);
    current->state = State::in_warp;
    current->kind = kind;
    current->value = value;
    current->source = source;
    current->predicate = predicate;
    current->mask = mask;
    current->line = line;
    release_warp(warp, mask, kind);
    if (current->state != State::ready) yield();
    return current->value;
}

void thread_main() {
    launch->entry(launch->parameters);
    current->state = State::exited;
    ++exited;
    // Who waited only for this thread goes on.
    release_barrier();
    Thread* warp = warp_of(current);
    for (int i = 0; i < lanes(warp); ++i)
        if (warp[i].state == State::in_warp) release_warp(warp, warp[i].mask, warp[i].kind);
    for (;;) yield();
}

[[noreturn]] void report_deadlock() {
    int at_barrier = 0;
    const Thread* in_warp = nullptr;
    const Thread* sample = nullptr;
    for (int i = 0; i < count; ++i) {
        if (threads[i].state == State::at_barrier) ++at_barrier, sample = &threads[i];
        if (threads[i].state == State::in_warp && !in_warp) in_warp = &threads[i];
    }
    char barrier_text[80] = "none waits at a barrier";
    if (sample) snprintf(barrier_text, sizeof barrier_text, "%d wait at the barrier of line %d", at_barrier, sample->line);
    if (!in_warp) fail("deadlock in block (%u, %u, %u): %s", blockIdx.x, blockIdx.y, blockIdx.z, barrier_text);
    const Thread* warp = warp_of(in_warp);
    unsigned int missing = in_warp->mask & alive_in(warp);
    for (int i = 0; i < lanes(warp); ++i)
        if (warp[i].state == State::in_warp && warp[i].mask == in_warp->mask && warp[i].kind == in_warp->kind)
            missing &= ~(1u << i);
    fail("deadlock in block (%u, %u, %u): of %d threads %d have exited, %s; thread (%u, %u, %u) waits at line %d for "
         "lanes %#x of its warp, of which %#x never come",
         blockIdx.x, blockIdx.y, blockIdx.z, count, exited, barrier_text, in_warp->index.x, in_warp->index.y,
         in_warp->index.z, in_warp->line, in_warp->mask, missing);
}

void run_fibers(const std::vector<int>& order) {
    waiting = exited = 0;
    for (int i = 0; i < count; ++i) {
        threads[i].state = State::ready;
        threads[i].fiber.start(thread_main);
    }
    while (exited < count) {
        bool progress = false;
        for (int i : order) {
            Thread& t = threads[i];
            if (t.state != State::ready) continue;
            progress = true;
            current = &t;
            threadIdx = t.index;
            switch_context(scheduler, t.fiber.context);
        }
        if (!progress) report_deadlock();
    }
    for (int i = 0; i < count; ++i)
        if (threads[i].fiber.overflowed())
            fail("thread (%u, %u, %u) needs more than %zu bytes of stack", threads[i].index.x, threads[i].index.y,
                 threads[i].index.z, Fiber::stack_bytes);
}

void run_plainly(const std::vector<int>& order) {
    for (int i : order) {
        threadIdx = threads[i].index;
        launch->entry(launch->parameters);
    }
}

void shuffle(std::vector<int>& order, uint64_t& state) {
    for (size_t i = order.size(); i > 1; --i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        std::swap(order[i - 1], order[(state >> 33) % i]);
    }
}

void run_blocks() {
    gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]};
    blockDim = {launch->block[0], launch->block[1], launch->block[2]};
    count = blockDim.x * blockDim.y * blockDim.z;
    for (int i = 0; i < count; ++i)
        threads[i].index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
    std::vector<int> blocks(launch->blocks, launch->blocks + launch->blocks_count), order(count);
    if (!launch->blocks) {
        blocks.resize(size_t(gridDim.x) * gridDim.y * gridDim.z);
        std::iota(blocks.begin(), blocks.end(), 0);
    }
    std::iota(order.begin(), order.end(), 0);
    uint64_t state = launch->seed;
    if (state) shuffle(blocks, state);
    for (int b : blocks) {
        if (state) shuffle(order, state);
        blockIdx = {b % gridDim.x, b / gridDim.x % gridDim.y, b / gridDim.x / gridDim.y};
        if (launch->static_shared_bytes) memset(launch->static_shared, poison, launch->static_shared_bytes);
        memset(dynamic_shared, poison, std::min(launch->shared + 1024, sizeof dynamic_shared));
        by_fiber = launch->fibers;
        if (by_fiber)
            run_fibers(order);
        else
            run_plainly(order);
        by_fiber = false;
        for (size_t i = launch->shared; i < launch->shared + 1024 && i < sizeof dynamic_shared; ++i)
            if (dynamic_shared[i] != poison)
                fail("block (%u, %u, %u) wrote byte %zu of its %zu bytes of dynamic shared memory", blockIdx.x,
                     blockIdx.y, blockIdx.z, i, launch->shared);
    }
}

// --- Faults: a wild access, a trap of the sanitizer, or no end. ---

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM};

void on_signal(int number, siginfo_t* info, void*) {
    const char* what = number == SIGALRM  ? "has not ended in the time it was given"
                       : number == SIGILL ? "made a misaligned access, or indexed an array out of its bounds, or trapped"
                       : number == SIGFPE ? "divided an integer by zero, or its quotient overflowed"
                                          : "accessed memory that is not its own";
    char where[40] = "";
    if (number == SIGSEGV || number == SIGBUS) snprintf(where, sizeof where, ", at %p", info->si_addr);
    fail("thread (%u, %u, %u) of block (%u, %u, %u) %s%s", threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y,
         blockIdx.z, what, where);
}

class Faults {
public:
    explicit Faults(double timeout) {
        static unsigned char stack[1 << 16];  // a thread that overflowed its stack has none left for the handler
        stack_t alternative = {};
        alternative.ss_sp = stack;
        alternative.ss_size = sizeof stack;
        sigaltstack(&alternative, &old_stack_);
        struct sigaction action = {};
        action.sa_sigaction = on_signal;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        for (int i = 0; i < 5; ++i) sigaction(signals[i], &action, &old_[i]);
        sigevent event = {};
        event.sigev_notify = SIGEV_THREAD_ID;  // the process may have other threads: the signal must reach this one
        event.sigev_signo = SIGALRM;
        event._sigev_un._tid = int(syscall(SYS_gettid));
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_);  // a busy machine does not fail a kernel
        itimerspec when = {};
        when.it_value.tv_sec = time_t(timeout);
        when.it_value.tv_nsec = long((timeout - double(time_t(timeout))) * 1e9);
        timer_settime(timer_, 0, &when, nullptr);
    }
    ~Faults() {
        timer_delete(timer_);
        for (int i = 0; i < 5; ++i) sigaction(signals[i], &old_[i], nullptr);
        sigaltstack(&old_stack_, nullptr);
    }

private:
    struct sigaction old_[5];
    stack_t old_stack_;
    timer_t timer_;
};

}  // namespace

void fail(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(launch->error, size_t(launch->error_bytes), format, arguments);
    va_end(arguments);
    longjmp(abandoned, 1);
}

int barrier(int line, Vote vote, bool predicate) {
    current->state = State::at_barrier;
    current->line = line;
    current->mask = unsigned(vote);
    current->predicate = predicate;
    ++waiting;
    release_barrier();
    if (current->state != State::ready) yield();
    return int(current->value);
}

uint64_t exchange(unsigned int mask, uint64_t value, int source, int line) {
    return collective(mask, Kind::exchange, value, source, false, line);
}

unsigned int ballot(unsigned int mask, bool predicate, int line) {
    return unsigned(collective(mask, Kind::ballot, 0, 0, predicate, line));
}

unsigned int alive() { return alive_in(warp_of(current)); }

int lane() { return lane_of(current); }

void pause() {
    if (by_fiber) yield();
}

extern "C" int emulator_launch(const Launch* description) {
    launch = description;
    launch->error[0] = 0;
    Faults faults(launch->timeout);
    if (setjmp(abandoned)) return 1;
    run_blocks();
    return 0;
}

}  // namespace emulator
