import type { ComponentProps, ReactNode } from 'react'

/**
 * The buttons of the first view. They look like Mantine's, which are loaded later, together with menus, panels and dialogs.
 */

export interface ButtonProps extends ComponentProps<'button'> {
  readonly size?: 'xs' | 'sm' | 'compact-xs'
  readonly variant?: 'filled' | 'default' | 'light' | 'subtle'
  readonly icon?: ReactNode
}

export function Button({
  size = 'xs',
  variant = 'filled',
  icon,
  className = '',
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      className={`button ${className}`}
      data-size={size}
      data-variant={variant}
      data-with-icon={icon === undefined ? undefined : ''}
      {...rest}
    >
      {icon}
      {children}
    </button>
  )
}

interface IconButtonProps extends ComponentProps<'button'> {
  readonly 'aria-label': string
  /** 28 pixels; `sm` and `xs` have the 24 that a finger needs. */
  readonly size?: 'md' | 'sm' | 'xs'
  readonly variant?: 'default' | 'subtle' | 'transparent'
}

export function IconButton({ size = 'md', variant = 'subtle', className = '', ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      className={`icon-button ${className}`}
      data-size={size}
      data-variant={variant}
      {...rest}
    />
  )
}
