// SPDX-License-Identifier: MIT
import Compression
import GeoJSON
import JSON
import ImageStore
import SourceEngine
import SystemSupport

/// Recovers what is readable of a source with damaged files: the features of its newest snapshot, and the
/// changes of the journals after it. Changes no file.
public struct Salvage {
    /// A feature's text, and whether its checksum was correct.
    private struct Item {
        let text: [UInt8]
        let isVerified: Bool
    }

    private var items: [Item?] = []
    /// By id, the indexes of its items.
    private var indexes: [FeatureIdentifier: [Int]] = [:]

    /// The number of features with correct checksums.
    public var verifiedCount: Int { items.count { $0?.isVerified == true } }
    /// The number of features in damaged pages that are still valid GeoJSON. A byte of their text may be wrong.
    public var unverifiedCount: Int { items.count { $0?.isVerified == false } }
    /// The number of features that could not be read.
    public private(set) var lostCount = 0
    /// What was read and what was not, for the operator.
    public private(set) var notes: [String] = []

    /// - Parameters:
    ///   - source: its name. Files that a start has set aside take precedence over those that are served since then.
    /// - Complexity: O(the files' bytes).
    public init(_ source: String, in directory: String) throws(StateToolError) {
        let folders = ["\(directory)/damaged/\(source)", "\(directory)/sources/\(source)"]
        for folder in folders where FileIO.exists(folder) {
            guard let names = try? FileIO.names(in: folder) else { continue }
            let files = names.compactMap { SourceFiles.read($0) }
            let snapshots = files.filter { $0.kind == .snapshot }.map(\.generation).sorted(by: >)
            for generation in snapshots {
                guard readSnapshot(SourceFiles.path(generation, .snapshot, in: folder)) else { continue }
                for journal in files where journal.kind == .journal && journal.generation >= generation {
                    let elsewhere = folders.map { SourceFiles.path(journal.generation, .journal, in: $0) }
                    readJournal(elsewhere.first { FileIO.exists($0) } ?? "")
                }
                return
            }
        }
        throw StateToolError(
            (["no snapshot of '\(source)' in \(directory) can be read"] + notes).joined(separator: "; "))
    }

    /// Writes the features, each on a line.
    ///
    /// - Parameter verifiedOnly: leaves out those that `unverifiedCount` counts.
    public func write(verifiedOnly: Bool, into output: (_ line: [UInt8]) throws -> Void) rethrows {
        for case let item? in items where item.isVerified || !verifiedOnly {
            try output(item.text + [UInt8(ascii: "\n")])
        }
    }

    private mutating func readSnapshot(_ path: String) -> Bool {
        do throws(StateFault) {
            let text = try SnapshotText(path)
            let store = try text.store()
            for row in 0..<store.count {
                let isVerified = text.isVerified(row, of: store)
                var writer = ByteWriter(capacity: 512)
                store.writeSent(row, into: &writer)
                guard isVerified || Self.isFeature(writer.bytes) else {
                    lostCount += 1
                    continue
                }
                add(writer.bytes, store.featureIdentifier(row), isVerified: isVerified)
            }
            notes.append("\(path): \(text.damage.count) damaged pages")
            return true
        } catch {
            notes.append(error.message)
            return false
        }
    }

    private static func isFeature(_ text: [UInt8]) -> Bool {
        var builder = FeatureStoreBuilder(policy: .reject, promoteId: nil)
        return (try? builder.append(features: [UInt8(ascii: "[")] + text + [UInt8(ascii: "]")])) != nil
    }

    private mutating func add(_ text: [UInt8], _ identifier: FeatureIdentifier?, isVerified: Bool) {
        if let identifier { indexes[identifier, default: []].append(items.count) }
        items.append(Item(text: text, isVerified: isVerified))
    }

    private mutating func readJournal(_ path: String) {
        let journal: FoundJournal
        do throws(StateFault) { journal = try FoundJournal(path) } catch {
            notes.append(error.message)
            return
        }
        let records = journal.records + journal.laterRecords
        for entry in records {
            switch entry.record {
            case .update(let upserts, let removals):
                remove(FeatureIdentifier.list(json: removals) ?? [])
                put(upserts, replacing: true)
            case .append(let features): put(features, replacing: false)
            case .refill(let features):
                (items, indexes) = ([], [:])
                put(features, replacing: false)
            // Expired features are kept, since somebody may still need them.
            case .options, .expiry, .progress: break
            }
        }
        notes.append("\(path): \(records.count) changes" + (journal.damage.map { "; \($0)" } ?? ""))
    }

    private mutating func put(_ features: [UInt8], replacing: Bool) {
        var builder = FeatureStoreBuilder(policy: .skip, promoteId: nil)
        guard (try? builder.append(features: features)) != nil else { return }
        let store = builder.finish()
        for row in 0..<store.count {
            let identifier = store.featureIdentifier(row)
            if replacing, let identifier { remove([identifier]) }
            var writer = ByteWriter(capacity: 512)
            store.writeSent(row, into: &writer)
            add(writer.bytes, identifier, isVerified: true)
        }
    }

    private mutating func remove(_ identifiers: [FeatureIdentifier]) {
        for identifier in identifiers {
            for row in indexes.removeValue(forKey: identifier) ?? [] { items[row] = nil }
        }
    }
}
