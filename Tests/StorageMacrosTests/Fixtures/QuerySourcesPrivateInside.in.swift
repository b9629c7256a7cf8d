enum Feature {
    @QuerySources
    private struct Sources {
        var all: QuerySource<Task> { QuerySource(Task.all()) }
    }

    private enum Part {
        @QuerySources
        struct Sources {
            var all: QuerySource<Task> { QuerySource(Task.all()) }
        }
    }
}
