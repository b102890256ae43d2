# SPDX-License-Identifier: MIT
"""The daemon's map page inside a notebook."""
from __future__ import annotations

import html
import json
import os
from typing import TYPE_CHECKING, Any, Optional
from urllib.parse import quote

if TYPE_CHECKING:
    from ._client import Client


def page_url(base: str, source: str, filter: Optional[Any] = None) -> str:
    """The address of the map page with a source and a filter."""
    url = f"{base.rstrip('/')}/?source={quote(source, safe='')}"
    return url if filter is None else url + "&filter=" + quote(json.dumps(filter, separators=(",", ":")), safe="")


def page(client: Client, source: str, filter: Optional[Any], height: int) -> Optional[str]:
    """The page as HTML for a notebook; None if the address of the daemon's HTTP interface is not known.

    The address is the client's `http`, else `$CLUSTERD_HTTP`.
    """
    base = client.http or os.environ.get("CLUSTERD_HTTP")
    if not base:
        return None
    url = html.escape(page_url(base, source, filter), quote=True)
    return f'<iframe src="{url}" width="100%" height="{height}" style="border:0" title="Map"></iframe>'
