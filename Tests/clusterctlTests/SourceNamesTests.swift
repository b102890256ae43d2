// SPDX-License-Identifier: MIT
import Testing

@testable import clusterctl

@Suite("Names of sources made from names of files") struct SourceNamesTests {
    @Test(
        "names",
        arguments: [
            ("cities.geojson", "cities"), ("/data/cafés & bars.csv.gz", "caf-s-bars"), ("a.b.ndjson", "a.b"),
            (".geojson", "source"), ("---.json", "source"), ("東京.geojson", "source"), ("x", "x"),
            ("_hidden.JSON", "hidden"), ("towns.gpkg", "towns"), ("lakes.shp.zip", "lakes"),
        ])
    func names(path: String, name: String) { #expect(SourceNames.of([path]) == [name]) }

    @Test(
        "a table's name becomes a source's name",
        arguments: [("vehicles", "vehicles"), ("Ta\"ble.x é", "Ta-ble.x"), ("é", "source")])
    func tables(table: String, name: String) { #expect(SourceNames.of(table: table) == name) }

    @Test("are different, and short enough") func different() {
        let long = String(repeating: "a", count: 100)
        let names = SourceNames.of(["a/x.json", "b/x.csv", "x-2.json", "c/x.json", long, long + ".gz"])
        #expect(names == ["x", "x-2", "x-2-2", "x-3", String(long.prefix(64)), String(long.prefix(58)) + "-2"])
        #expect(Set(names).count == names.count)
    }
}
