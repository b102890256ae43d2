// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "CPageFault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

// The handler reads this table without a lock. `start` is set last and cleared first, so an entry with a start is complete. The
// thread that causes a fault holds the region, so its entry does not change meanwhile.
struct region {
    _Atomic uintptr_t start;
    _Atomic size_t length;
    atomic_int is_taken;
    atomic_int has_failed;
};

static struct region regions[CLUSTERD_MOST_REGIONS];
// The number of entries that have ever been taken.
static atomic_int region_limit;
static struct sigaction previous;
static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;
static int is_installed;

// Puts zeros in the place of a region's file. Replacing the whole region takes one mapping, however many of its pages are lost. Only
// system calls: safe in a signal handler.
static int lose(struct region *region) {
    atomic_store(&region->has_failed, 1);
    void *start = (void *)atomic_load(&region->start);
    return mmap(start, atomic_load(&region->length), PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == start;
}

// Does what the signal did before the handler was installed.
static void act_as_before(int number, siginfo_t *info, void *context) {
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
    } else if (previous.sa_handler == SIG_DFL || info->si_code > 0) {
        // The instruction faults again, or the signal comes again, and ends the process. A fault cannot be ignored.
        signal(number, SIG_DFL);
        if (info->si_code <= 0) raise(number);
    }
}

static void handle(int number, siginfo_t *info, void *context) {
    int error = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    // A signal that a process sent has no address.
    if (info->si_code > 0) {
        int limit = atomic_load(&region_limit);
        for (int place = 0; place < limit; place++) {
            uintptr_t start = atomic_load(&regions[place].start);
            if (start && address >= start && address - start < atomic_load(&regions[place].length) && lose(&regions[place])) {
                errno = error;
                return;
            }
        }
    }
    act_as_before(number, info, context);
    errno = error;
}

static int install(void) {
    pthread_mutex_lock(&installing);
    if (!is_installed) {
        struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        is_installed = sigaction(SIGBUS, &action, &previous) == 0;
    }
    int result = is_installed;
    pthread_mutex_unlock(&installing);
    return result;
}

int clusterd_region_guard(void *start, size_t length) {
    if (!install()) return -1;
    for (int place = 0; place < CLUSTERD_MOST_REGIONS; place++) {
        int expected = 0;
        if (!atomic_compare_exchange_strong(&regions[place].is_taken, &expected, 1)) continue;
        int limit = atomic_load(&region_limit);
        while (limit <= place && !atomic_compare_exchange_weak(&region_limit, &limit, place + 1)) {}
        atomic_store(&regions[place].has_failed, 0);
        atomic_store(&regions[place].length, length);
        atomic_store(&regions[place].start, (uintptr_t)start);
        return place;
    }
    return -1;
}

void clusterd_region_release(int number) {
    atomic_store(&regions[number].start, 0);
    atomic_store(&regions[number].is_taken, 0);
}

int clusterd_region_has_failed(int number) {
    return atomic_load_explicit(&regions[number].has_failed, memory_order_acquire);
}

void clusterd_region_fail(int number) { lose(&regions[number]); }
