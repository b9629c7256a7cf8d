/// What the tool says when no command is given.
enum Overview {
    static let text = """
        storagekit: look into, replay, rebuild and audit a StorageKit store.

          import       storagekit import -s app.sqlite history.jsonl.zst
          log          storagekit log -s app.sqlite -2h.. users --actor anna -p
          history      storagekit history -s app.sqlite users/42
          diff         storagekit diff -s app.sqlite -1d users
          blame        storagekit blame -s app.sqlite users/42
          at           storagekit at -s app.sqlite -2h "SELECT * FROM users WHERE id = 42"
          replay       storagekit replay -s app.sqlite -q --break 'users/42#name'
          undo         storagekit undo -s app.sqlite --dry-run
          tail         storagekit tail -s app.sqlite -f --format jsonl
          verify       storagekit verify -s app.sqlite
          rebuild      storagekit rebuild -s app.sqlite --compare

        Leave -s out by typing: export STORAGEKIT_STORE=app.sqlite
        Points in history look like @1234, t:77, 2024-05-01T10:00:00Z, -2h, head~5, tag:NAME.
        More of a command: storagekit help log. All commands: storagekit --help

        """
}
