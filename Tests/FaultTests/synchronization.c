// SPDX-License-Identifier: MIT
// Preloaded into programs that the thread sanitizer watches, it tells the sanitizer of two orders that the sanitizer does not see.
// Needs clang, for Swift's calling conventions.
//
// A contended lock of Swift's `Mutex` changes hands. The library Synchronization does that out of line, without the sanitizer's
// instructions, and the kernel does the rest (FUTEX_LOCK_PI, futex(2)): without this, whatever such a lock guards is reported as a
// race.
//
// A continuation is resumed before its task suspends. The library Concurrency reports the resumption, but not that the task goes on
// after it: without this, whatever the resumer wrote and the task reads is reported as a race.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// In programs without the sanitizer these are null.
__attribute__((weak)) void __tsan_acquire(void *address);
__attribute__((weak)) void __tsan_release(void *address);
__attribute__((weak)) uint32_t __tsan_atomic32_load(const volatile uint32_t *address, int order);

#define SWIFT __attribute__((swiftcall))
#define ASYNC __attribute__((swiftasynccall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// _MutexHandle._lockSlow(_: UInt32), _tryLockSlow() -> Bool and _unlockSlow() of the library.
static SWIFT void (*next_lock)(uint32_t, SELF);
static SWIFT bool (*next_try_lock)(SELF);
static SWIFT void (*next_unlock)(SELF);
// In programs without tasks this is null.
__attribute__((weak)) SWIFT void *swift_task_getCurrent(void);
static ASYNC void (*next_await)(void *context);
static void (*next_enter)(char *state);
static SWIFT void (*next_dealloc)(void *memory);

__attribute__((constructor)) static void begin(void) {
    next_lock = (__typeof__(next_lock))dlsym(RTLD_NEXT, LOCK);
    next_try_lock = (__typeof__(next_try_lock))dlsym(RTLD_NEXT, TRY_LOCK);
    next_unlock = (__typeof__(next_unlock))dlsym(RTLD_NEXT, UNLOCK);
    next_await = (__typeof__(next_await))dlsym(RTLD_NEXT, "swift_continuation_await");
    next_enter = (__typeof__(next_enter))dlsym(RTLD_NEXT, "swift_task_enterThreadLocalContext");
    next_dealloc = (__typeof__(next_dealloc))dlsym(RTLD_NEXT, "swift_task_dealloc");
}

// An atomic load waits until the sanitizer has noted an unlocking that has happened. __tsan_acquire does not if it is the first.
static void acquire(void *lock) {
    if (__tsan_atomic32_load) __tsan_atomic32_load(lock, 2 /* acquire */);
}

SWIFT void lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void lock(uint32_t thread, SELF) {
    next_lock(thread, self);
    acquire(self);
}

SWIFT bool try_lock(SELF) __asm__(TRY_LOCK);
SWIFT bool try_lock(SELF) {
    bool isLocked = next_try_lock(self);
    if (isLocked) acquire(self);
    return isLocked;
}

SWIFT void unlock(SELF) __asm__(UNLOCK);
SWIFT void unlock(SELF) {
    if (__tsan_release) __tsan_release(self);
    next_unlock(self);
}

// What resumes a continuation releases the task.
static void acquire_task(void) {
    void *task = __tsan_acquire && swift_task_getCurrent ? swift_task_getCurrent() : 0;
    if (task) __tsan_acquire(task);
}

// It finds the continuation resumed when it begins, or after it has marked the task as suspended. Then it marks it as running.
ASYNC void swift_continuation_await(void *context) {
    acquire_task();
    __attribute__((musttail)) return next_await(context);
}

void swift_task_enterThreadLocalContext(char *state) {
    acquire_task();
    next_enter(state);
}

// The library's own calls of swift_continuation_await are not seen here. A task frees the memory of an asynchronous call when the call has
// returned.
SWIFT void swift_task_dealloc(void *memory) {
    acquire_task();
    next_dealloc(memory);
}
