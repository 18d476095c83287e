/** Milliseconds that this process has had: what others have had of the machine is not counted. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
