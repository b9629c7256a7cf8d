/// What one run took.
struct Sample {
    let wallSeconds: Double
    /// User and system time of the whole process, background threads included.
    let cpuSeconds: Double
    /// How far resident memory rose above where it was when the run began; nil where the system can't tell.
    let peakGrowthBytes: Double?
    let metrics: [Metric]
}
