/// The tool's output without a command.
enum Overview {
    static let text = """
        storagekit: inspect, replay, rebuild and audit a StorageKit store.

          import       storagekit import -s app.sqlite history.jsonl.zst
          ui           storagekit ui -s app.sqlite
          log          storagekit log -s app.sqlite -2h.. users --actor anna -p
          history      storagekit history -s app.sqlite users/42
          diff         storagekit diff -s app.sqlite -1d users
          blame        storagekit blame -s app.sqlite users/42
          at           storagekit at -s app.sqlite -2h "SELECT * FROM users"
          replay       storagekit replay -s app.sqlite -q --break 'users/42#name'
          exec         storagekit exec -s app.sqlite "DELETE FROM users" --dry-run
          undo         storagekit undo -s app.sqlite --dry-run
          verify       storagekit verify -s app.sqlite
          rebuild      storagekit rebuild -s app.sqlite --compare

        To omit -s: export STORAGEKIT_STORE=app.sqlite
        Points look like @1234, t:77, 2024-05-01T10:00:00Z, -2h, head~5, tag:NAME.
        All kinds of points: storagekit help points
        Help for a command: storagekit help log. All commands: storagekit --help

        """
}
