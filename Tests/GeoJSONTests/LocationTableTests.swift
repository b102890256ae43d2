// SPDX-License-Identifier: MIT
import TestSupport
import Testing

@testable import GeoJSON

@Suite("Locations of changed features")
struct LocationTableTests {
    @Test(
        "a table and its earlier copies have a dictionary's values", arguments: 1...6 as ClosedRange<UInt64>)
    func followsDictionaries(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var table = LocationTable()
        var plain: [UInt32: LocationTable.Location] = [:]
        var earlier: [(LocationTable, [UInt32: LocationTable.Location])] = []
        // Many updates of few rows, and few of many.
        let rows = UInt32(seed % 2 == 0 ? 300 : 100_000)
        for step in 0..<3000 as Range<UInt32> {
            let row = UInt32.random(in: 0..<rows, using: &random)
            let location = step % 5 == 0 ? .removed : LocationTable.Location(store: step / 7, row: step)
            let (old, known) = (table.update(row, to: location), plain.updateValue(location, forKey: row))
            #expect(old?.store == known?.store)
            #expect(old?.row == known?.row)
            if step % 400 == 0 { earlier.append((table, plain)) }
        }
        earlier.append((table, plain))
        for (table, plain) in earlier {
            #expect(table.count == plain.count)
            #expect(table.rows == plain.keys.sorted())
            #expect(table.all.allSatisfy { plain[$0.key]?.row == $0.value.row })
            #expect(plain.allSatisfy { table[$0.key]?.store == $0.value.store })
            #expect(table[rows] == nil)
        }
    }

    @Test("a list of stores and its earlier copies have the stores by number") func listsStores() {
        let stores = (0..<200).map { _ in FeatureStoreBuilder(policy: .reject, promoteId: nil).finish() }
        var list = StoreList()
        var earlier: [StoreList] = []
        for store in stores {
            earlier.append(list)
            list.append(store)
        }
        earlier.append(StoreList(stores))
        for (count, list) in earlier.enumerated() {
            #expect(list.count == count)
            #expect(Array(list.all).count == count)
            #expect(zip(list.all, stores).allSatisfy { $0 === $1 })
            #expect((0..<count).allSatisfy { list[UInt32($0)] === stores[$0] })
        }
    }
}
