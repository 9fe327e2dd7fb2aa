/** Whether the service on this port of the machine accepts requests. */
export async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`)
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}
