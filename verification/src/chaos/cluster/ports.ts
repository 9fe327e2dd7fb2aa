/** The port of every serving process, each of which has an address of its own. */
export const port = 8080
export const adminPort = 9464
/** Of the inspector of Node.js. */
export const inspectorPort = 9229
