/**
 * The path of a list that takes minutes in an account whose products' names consist of x: each comparison fails only at the end of
 * the value. So it runs until its clients disconnect. Each number is a different list.
 */
export function slowList(n: number): string {
  const conditions = Array.from({ length: 30 }, (_, i) => `name!*${'x'.repeat(220)}q${n}z${i}`).join('&')
  return `/api/v1/inventory/product?fields=id&filter=${encodeURIComponent(conditions)}`
}
