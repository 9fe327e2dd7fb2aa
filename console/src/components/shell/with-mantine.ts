import { type ComponentType, createElement } from 'react'

/**
 * For `lazy`: loads a component that uses Mantine, together with Mantine and its styles. The first view uses neither,
 * because evaluating them would delay it.
 */
export function withMantine<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): () => Promise<{ default: ComponentType<Props> }> {
  return async () => {
    const [{ Mantine }, Component] = await Promise.all([import('./mantine.tsx'), load()])
    return { default: (props: Props) => createElement(Mantine, null, createElement(Component, props)) }
  }
}
