// SPDX-License-Identifier: MIT
import GeoJSON

extension SourceError {
    package init(_ error: GeoJSONError) {
        switch error {
        case .badFeature(let feature):
            self = .badFeature(
                index: feature.index, reason: feature.fault.rawValue, message: error.message,
                feature: feature)
        case .malformed, .damaged, .unreadable: self = .unreadableInput(error.message)
        case .tooLarge, .tooMany: self = .tooLarge(error.message)
        case .cancelled: self = .cancelled
        }
    }
}
