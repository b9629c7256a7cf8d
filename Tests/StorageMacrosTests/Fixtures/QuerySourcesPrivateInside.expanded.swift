// swift-format-ignore-file
enum Feature {
    private struct Sources {
        var all: QuerySource<Task> { QuerySource(Task.all()) }
    }

    private enum Part {
        struct Sources {
            var all: QuerySource<Task> { QuerySource(Task.all()) }
        }
    }
}
