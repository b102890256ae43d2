// SPDX-License-Identifier: MIT
import ClusterClient
import ClusterProtocol
import CommandLineOptions
import JSON
import Rendering

/// `clusterctl locate`: what shows a feature.
enum LocateCommand: Subcommand {
    static let hasFeatures = true
    static let table = Command(
        "locate", summary: "Show the cluster or point that shows a feature at a zoom",
        operands: [.source, Operand("FEATURE", help: "the feature's id")],
        options: Option.params(of: .locateFeature, short: ["zoom": "z"], defaults: ["zoom": "0"]),
        examples: [Example("clusterctl locate cities 17 --zoom 5", "shows where city 17 is at zoom 5")])

    static func run(_ invocation: Invocation) async throws {
        var params = ParamsText(try invocation.params(of: .locateFeature))
        params["featureId"] = UpdateCommand.identifier(try invocation.operand(1))
        let answer = try await invocation.call("ClusterService/LocateFeature", params.params)
        try invocation.show(answer) { value in
            if let feature = value["feature"].flatMap(Feature.init) {
                invocation.print(FeatureTable.table([feature]))
            }
            let zoom =
                value["standsAloneFrom"]?.asNumber.map { "from zoom \(Quantity.plain($0)) on" } ?? "never"
            invocation.remark("stands alone \(zoom)")
        }
    }
}
