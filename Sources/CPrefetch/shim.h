// SPDX-License-Identifier: MIT
// The processor's instruction that fetches memory ahead, which Swift has no function for.

/// Requests the cache line of an address, which need not be valid.
static inline void clusterd_prefetch(const void *address) { __builtin_prefetch(address); }
