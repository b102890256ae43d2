// SPDX-License-Identifier: MIT
#include "CDescriptors.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char set[] = {
#embed "../../proto/descriptors.binpb"
};

const unsigned char *descriptor_set_bytes(void) { return set; }

size_t descriptor_set_size(void) { return sizeof set; }
