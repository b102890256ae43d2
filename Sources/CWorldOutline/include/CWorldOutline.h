// SPDX-License-Identifier: MIT
#ifndef CWORLDOUTLINE_H
#define CWORLDOUTLINE_H

#include <stddef.h>

/// Land and borders of the world as GeoJSON: the file web/world-110m.geojson.
const unsigned char *_Nonnull world_outline_bytes(void);
size_t world_outline_size(void);

#endif
