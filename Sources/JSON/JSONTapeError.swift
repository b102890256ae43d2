// SPDX-License-Identifier: MIT
import CSimdjson

/// Either the text was not JSON, or `body` threw.
public enum JSONTapeError<Failure: Error>: Error {
    case json(JSONError)
    case body(Failure)
}
