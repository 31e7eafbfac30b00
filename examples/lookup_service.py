# SPDX-License-Identifier: BSD-3-Clause
"""Names that are looked up by HTTP, in an index of `d2ke index` or `Index.save`.

python examples/lookup_service.py names.d2ke    # then GET http://127.0.0.1:8000/?q=Jon+Smith
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import d2ke


def serve(folder, port=8000, k=5):
    """Return a server that answers with the k nearest names; each request has a thread."""
    index = d2ke.Index.open(folder)
    ids, k = index.ids, min(k, len(index))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, answer = 400, {"error": "q is missing: ask /?q=NAME"}
            query = parse_qs(urlsplit(self.path).query).get("q")
            if query is not None:
                [near], [distances] = index.nearest(query[:1], k=k, n_threads=1)
                rows = zip(ids[near].tolist(), index.objects(near), distances.tolist(), strict=True)
                status, answer = 200, [{"id": i, "name": x, "distance": d} for i, x, d in rows]
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    serve(sys.argv[1]).serve_forever()
