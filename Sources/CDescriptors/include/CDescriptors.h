// SPDX-License-Identifier: MIT
#ifndef CDESCRIPTORS_H
#define CDESCRIPTORS_H

#include <stddef.h>

/// The compiled .proto files, a google.protobuf.FileDescriptorSet: the file proto/descriptors.binpb.
const unsigned char *_Nonnull descriptor_set_bytes(void);
size_t descriptor_set_size(void);

#endif
