// A fiber: a stack and the registers to go on with. A hand-written switch on x86-64, ucontext elsewhere.
#pragma once

#include <stdint.h>
#include <sys/mman.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulator {

#if defined(__x86_64__)

using Context = void*;  // the stack pointer; everything that a call must preserve is on the stack

extern "C" void emulator_switch(void** from, void* to);
asm(R"(
.text
.globl emulator_switch
.type emulator_switch, @function
emulator_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emulator_switch, .-emulator_switch
)");

inline void switch_context(Context& from, Context& to) { emulator_switch(&from, to); }

inline void prepare_context(Context& context, unsigned char* stack, size_t bytes, void (*body)()) {
    void** top = reinterpret_cast<void**>(stack + bytes);
    *--top = nullptr;  // keeps the stack aligned as after a call, and ends a debugger's trace
    *--top = reinterpret_cast<void*>(body);
    context = top - 6;
}

#else

using Context = ucontext_t;

inline void switch_context(Context& from, Context& to) { swapcontext(&from, &to); }

inline void prepare_context(Context& context, unsigned char* stack, size_t bytes, void (*body)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = bytes;
    context.uc_link = nullptr;
    makecontext(&context, body, 0);
}

#endif

class Fiber {
public:
    static constexpr size_t stack_bytes = 1 << 16;
    static constexpr size_t guard_bytes = 1 << 16;  // below the stack; touching them is a fault, and nobody else's memory

    Context context;

    // (Re)start at `body`. The stack is kept from block to block.
    void start(void (*body)()) {
        if (!stack_) {
            auto* whole = static_cast<unsigned char*>(mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
            mprotect(whole, guard_bytes, PROT_NONE);
            stack_ = whole + guard_bytes;
            *canary() = canary_value;
        }
        prepare_context(context, stack_, stack_bytes, body);
    }

    bool overflowed() const { return *canary() != canary_value; }

private:
    static constexpr uint64_t canary_value = 0x5AFEC0DE5AFEC0DE;
    uint64_t* canary() const { return reinterpret_cast<uint64_t*>(stack_); }
    unsigned char* stack_ = nullptr;
};

}  // namespace emulator
