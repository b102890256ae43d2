// SPDX-License-Identifier: MIT
import CommandLineOptions

/// All subcommands of `clusterctl`, in the order of its help.
enum CommandTable {
    static let subcommands: [any (Subcommand & SendableMetatype).Type] = [
        ServeCommand.self, ImportCommand.self, LoadCommand.self, ExportCommand.self, PublishCommand.self,
        BuildCommand.self,
        BuildStepCommand.self,
        CreateCommand.self,
        OptionsCommand.self,
        UpdateCommand.self,
        SourcesCommand.self, SourceCommand.self, DeleteCommand.self,
        ClustersCommand.self, TileCommand.self, ChildrenCommand.self, LeavesCommand.self, ZoomCommand.self,
        HullCommand.self, LocateCommand.self, TopCommand.self, HistogramCommand.self, GridCommand.self,
        WatchCommand.self, RenderCommand.self,
        MapCommand.self,
        InfoCommand.self, StatsCommand.self, HealthCommand.self,
        EvalCommand.self, CallCommand.self, GenerateCommand.self, BenchCommand.self,
        PostgresCommand.self, AccessCommand.self,
        StateCommand.self, BackupCommand.self, RestoreCommand.self,
        CompletionCommand.self, CompleteCommand.self, ManualCommand.self,
    ]

    static let root = Command(
        "clusterctl", summary: "Talk to clusterd, the daemon that clusters points on a map",
        details: [
            "A source is a named set of GeoJSON points. Import one, then ask for clusters in a box at a zoom, "
                + "and for what is in them.",
            "The daemon's socket is --socket, else $CLUSTERD_SOCKET, else the first of $XDG_RUNTIME_DIR/clusterd.sock and "
                + "/run/clusterd/clusterd.sock that answers.", ExitStatus.help,
        ],
        options: [
            Option("socket", short: "s", value: "PATH", kind: .file, help: "the daemon's socket"),
            Option(
                "timeout", value: "SECONDS", kind: .number(0.001...86400), defaultInWords: "never",
                help: "give up on an answer after this time"),
            .flag("json", short: "j", help: "print the daemon's answer as JSON: --output json"), OutputForm.option,
        ],
        examples: [
            Example("clusterctl serve cities.geojson", "shows a file on a map in the browser"),
            Example("clusterctl import cities cities.geojson", "creates a source of a file's points"),
            Example("clusterctl clusters cities --zoom 3", "shows the world's clusters at zoom 3"),
            Example("clusterctl leaves cities 164 --all", "shows all points of a cluster"),
        ], subcommands: subcommands.map { $0.table })
}
