/** Optional packages are installed here and not with the others, because they bring hundreds that nothing else needs. */
export const peersFolder = new URL('../../peers/', import.meta.url)
