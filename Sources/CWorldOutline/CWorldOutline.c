// SPDX-License-Identifier: MIT
#include "CWorldOutline.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char outline[] = {
#embed "../../web/world-110m.geojson"
};

const unsigned char *world_outline_bytes(void) { return outline; }

size_t world_outline_size(void) { return sizeof outline; }
