export function isOnlyQuartermaster(script: string): boolean
