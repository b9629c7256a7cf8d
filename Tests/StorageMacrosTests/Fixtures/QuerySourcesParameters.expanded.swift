// swift-format-ignore-file

struct Sources {
    let none: @Sendable () -> QuerySource<Task>
    let two: (Int, String) -> QuerySource<Task>
    let tuple: @Sendable ((Int, String)) -> QuerySource<Task>
    let calls: (Int) -> (String) -> QuerySource<Task>
    let late: () -> ((Int) -> QuerySource<Task>)
}
