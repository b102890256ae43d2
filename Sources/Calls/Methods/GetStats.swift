// SPDX-License-Identifier: MIT
import ClusterProtocol
import Answers
import Sources
import JSON

/// `GetStats`: returns counters, latencies, memory and sources.
struct GetStats: UnaryMethod {
    let declaration = MethodDeclaration.getStats
    let status: ServerStatus
    let registry: SourceRegistry

    func prepare(_ params: Params, _ call: CallContext) throws(RPCError) -> PreparedAnswer {
        let format = try params.optionalString("format") ?? "json"
        guard ["json", "prometheus"].contains(format) else {
            throw .invalidParam(params.path(of: "format"), "must be \"json\" or \"prometheus\".")
        }
        let isText = format == "prometheus"
        let isRaw = isText && call.form == .raw
        return PreparedAnswer(
            isQuick: true, facts: AnswerFacts(mediaType: isRaw ? Self.prometheusMediaType : AnswerFacts.json)
        ) { [status, registry] (_, bytes) throws(RPCError) in
            let statistics = Statistics(status, registry)
            if isRaw {
                bytes.append(raw: statistics.prometheus)
            } else {
                bytes.append(.object(isText ? ["text": .string(statistics.prometheus)] : statistics.json))
            }
        }
    }

    /// The media type of Prometheus's text format.
    private static let prometheusMediaType = "text/plain; version=0.0.4; charset=utf-8"
}
