/// Those who do the same work, and how much work it is.
struct Contest {
    /// In one run, for the columns per operation.
    let operations: Int
    let contenders: [Contender]
}
