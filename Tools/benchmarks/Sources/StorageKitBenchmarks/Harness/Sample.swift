/// What one run took.
struct Sample {
    let wallSeconds: Double
    /// User and system time of the whole process, background threads included.
    let cpuSeconds: Double
    /// How far resident memory rose above where it was when the run began; nil where the system can't tell.
    let peakGrowthBytes: Double?
    /// What a hypervisor kept from this machine meanwhile; nil where the system can't tell.
    let stolenSeconds: Double?
    let metrics: [Metric]
}
