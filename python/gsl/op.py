"""One constructor for each operation: operands by position, attributes by name.

An attribute that is not given is unconstrained in a source, and absent in a target. Written by
`python/generate_op.py` from the definitions of the operations.
"""

from __future__ import annotations

from gsl.attr import AttrLike
from gsl.pat import Call, PatternLike


class Abs(Call):
    """`|x|`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('abs', x)


class Acos(Call):
    """The arc cosine of `x`, in radians.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('acos', x)


class Acosh(Call):
    """The inverse hyperbolic cosine of `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('acosh', x)


class Add(Call):
    """`lhs + rhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('add', lhs, rhs)


class AddN(Call):
    """The sum of the inputs.

    `inputs`: one or more; shapes that broadcast together.
    """

    def __init__(
        self,
        *inputs: PatternLike,
    ) -> None:
        super().__init__('add_n', *_spread(inputs))


class AffineGrid(Call):
    """The coordinates that affine maps give, for `nn.grid_sample`.

    `theta`: batch, then 2 by 3 or 3 by 4.

    `size`: batch, channels, then spatial extents; rank 1.

    `align_corners`, a truth value: -1 and 1 are the centres of the outer pixels, not their
    edges; false if absent.
    """

    def __init__(
        self,
        theta: PatternLike,
        size: PatternLike,
        /,
        *,
        align_corners: AttrLike = None,
    ) -> None:
        super().__init__('affine_grid', theta, size, align_corners=align_corners)


class Arange(Call):
    """`start`, `start + delta`... up to `limit`.

    `start`: a scalar: the first element.

    `limit`: a scalar: elements stay before it.

    `delta`: a scalar: the step.
    """

    def __init__(
        self,
        start: PatternLike,
        limit: PatternLike,
        delta: PatternLike,
        /,
    ) -> None:
        super().__init__('arange', start, limit, delta)


class ArgMax(Call):
    """The index of the greatest element along `axis`.

    `data`: any shape.

    `axis`, an integer: 0 if absent.

    `keepdims`, a truth value: the dimension stays with extent 1; true if absent.

    `select_last_index`, a truth value: of equal elements the last; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        select_last_index: AttrLike = None,
    ) -> None:
        super().__init__('argmax', data, axis=axis, keepdims=keepdims, select_last_index=select_last_index)


class ArgMin(Call):
    """The index of the least element along `axis`.

    `data`: any shape.

    `axis`, an integer: 0 if absent.

    `keepdims`, a truth value: the dimension stays with extent 1; true if absent.

    `select_last_index`, a truth value: of equal elements the last; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        select_last_index: AttrLike = None,
    ) -> None:
        super().__init__('argmin', data, axis=axis, keepdims=keepdims, select_last_index=select_last_index)


class Asin(Call):
    """The arc sine of `x`, in radians.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('asin', x)


class Asinh(Call):
    """The inverse hyperbolic sine of `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('asinh', x)


class Atan(Call):
    """The arc tangent of `x`, in radians.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('atan', x)


class Atanh(Call):
    """The inverse hyperbolic tangent of `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('atanh', x)


class Attention(Call):
    """`softmax(q * k^T * scale + mask) * v` for each head; heads of `k` and `v` may be shared.

    `q`: batch, heads, steps, width; or batch, steps, heads * width.

    `k`: batch, kv heads, kv steps, width; or rank 3 likewise.

    `v`: batch, kv heads, kv steps, v width; or rank 3 likewise.

    `attn_mask`: broadcasts to batch, heads, steps, all kv steps.

    `past_key`: batch, kv heads, past steps, width.

    `past_value`: batch, kv heads, past steps, v width.

    `nonpad_kv_seqlen`: batch: how many kv steps count.

    `q_num_heads`, an integer: needed for operands of rank 3.

    `kv_num_heads`, an integer: needed for operands of rank 3.

    `is_causal`, a truth value: a step sees none after it; false if absent.

    `scale`, a number: 1 / sqrt(width) if absent.

    `softcap`, a number: bounds the scores by tanh; 0 (not) if absent.

    `softmax_precision`, an integer: ONNX's number of the type for softmax.

    `qk_matmul_output_mode`, an integer: which scores are returned; 0 if absent.

    `left_window_size`, an integer: steps seen before; -1 (all) if absent.

    `right_window_size`, an integer: steps seen after; -1 (all) if absent.
    """

    def __init__(
        self,
        q: PatternLike,
        k: PatternLike,
        v: PatternLike,
        attn_mask: PatternLike | None = None,
        past_key: PatternLike | None = None,
        past_value: PatternLike | None = None,
        nonpad_kv_seqlen: PatternLike | None = None,
        /,
        *,
        q_num_heads: AttrLike = None,
        kv_num_heads: AttrLike = None,
        is_causal: AttrLike = None,
        scale: AttrLike = None,
        softcap: AttrLike = None,
        softmax_precision: AttrLike = None,
        qk_matmul_output_mode: AttrLike = None,
        left_window_size: AttrLike = None,
        right_window_size: AttrLike = None,
    ) -> None:
        super().__init__('attention', *_present(q, k, v, attn_mask, past_key, past_value, nonpad_kv_seqlen), q_num_heads=q_num_heads, kv_num_heads=kv_num_heads, is_causal=is_causal, scale=scale, softcap=softcap, softmax_precision=softmax_precision, qk_matmul_output_mode=qk_matmul_output_mode, left_window_size=left_window_size, right_window_size=right_window_size)


class AvgPool(Call):
    """The mean of each window, any rank.

    `x`: batch, channels, then spatial extents.

    `pool_size`, integers, needed in a target: the extents of a window.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `ceil_mode`, a truth value: a last window may reach over the end; false if absent.

    `count_include_pad`, a truth value: padding counts as zeros; false if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        pool_size: AttrLike = None,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        ceil_mode: AttrLike = None,
        count_include_pad: AttrLike = None,
    ) -> None:
        super().__init__('avg_pool', x, pool_size=pool_size, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode, count_include_pad=count_include_pad)


class AvgPool1D(Call):
    """The mean of each window.

    `x`: batch, channels, then spatial extents.

    `pool_size`, integers, needed in a target: the extents of a window.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `ceil_mode`, a truth value: a last window may reach over the end; false if absent.

    `count_include_pad`, a truth value: padding counts as zeros; false if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        pool_size: AttrLike = None,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        ceil_mode: AttrLike = None,
        count_include_pad: AttrLike = None,
    ) -> None:
        super().__init__('avg_pool1d', x, pool_size=pool_size, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode, count_include_pad=count_include_pad)


class AvgPool2D(Call):
    """The mean of each window.

    `x`: batch, channels, then spatial extents.

    `pool_size`, integers, needed in a target: the extents of a window.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `ceil_mode`, a truth value: a last window may reach over the end; false if absent.

    `count_include_pad`, a truth value: padding counts as zeros; false if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        pool_size: AttrLike = None,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        ceil_mode: AttrLike = None,
        count_include_pad: AttrLike = None,
    ) -> None:
        super().__init__('avg_pool2d', x, pool_size=pool_size, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode, count_include_pad=count_include_pad)


class AvgPool3D(Call):
    """The mean of each window.

    `x`: batch, channels, then spatial extents.

    `pool_size`, integers, needed in a target: the extents of a window.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `ceil_mode`, a truth value: a last window may reach over the end; false if absent.

    `count_include_pad`, a truth value: padding counts as zeros; false if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        pool_size: AttrLike = None,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        ceil_mode: AttrLike = None,
        count_include_pad: AttrLike = None,
    ) -> None:
        super().__init__('avg_pool3d', x, pool_size=pool_size, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode, count_include_pad=count_include_pad)


class BatchFlatten(Call):
    """`data` with all extents but the first merged.

    `data`: any shape.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
    ) -> None:
        super().__init__('batch_flatten', data)


class BatchMatmul(Call):
    """For each batch, `x` times the transpose of `y`.

    `x`: batch, m, k.

    `y`: batch, n, k.
    """

    def __init__(
        self,
        x: PatternLike,
        y: PatternLike,
        /,
    ) -> None:
        super().__init__('batch_matmul', x, y)


class BatchNorm(Call):
    """`(data - moving_mean) / sqrt(moving_var + epsilon) * gamma + beta` for each channel.

    `data`: batch, channels, then spatial extents.

    `gamma`: channels.

    `beta`: channels.

    `moving_mean`: channels.

    `moving_var`: channels.

    `epsilon`, a number: added to the variance before the root; 1e-5 if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        gamma: PatternLike,
        beta: PatternLike,
        moving_mean: PatternLike,
        moving_var: PatternLike,
        /,
        *,
        epsilon: AttrLike = None,
    ) -> None:
        super().__init__('batch_norm', data, gamma, beta, moving_mean, moving_var, epsilon=epsilon)


class BatchNormTraining(Call):
    """`nn.batch_norm` with the statistics of `data` itself, which also move the given ones.

    `data`: batch, channels, then spatial extents.

    `gamma`: channels.

    `beta`: channels.

    `moving_mean`: channels.

    `moving_var`: channels.

    `epsilon`, a number: added to the variance before the root; 1e-5 if absent.

    `momentum`, a number: 0.9 if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        gamma: PatternLike,
        beta: PatternLike,
        moving_mean: PatternLike,
        moving_var: PatternLike,
        /,
        *,
        epsilon: AttrLike = None,
        momentum: AttrLike = None,
    ) -> None:
        super().__init__('batch_norm_training', data, gamma, beta, moving_mean, moving_var, epsilon=epsilon, momentum=momentum)


class Bernoulli(Call):
    """1 with the probability that `x` states, else 0.

    `x`: any shape.

    `dtype`, a text: the element type of the result.

    `seed`, a number: of the generator; any if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        dtype: AttrLike = None,
        seed: AttrLike = None,
    ) -> None:
        super().__init__('bernoulli', x, dtype=dtype, seed=seed)


class BiasAdd(Call):
    """`x` plus a number for each place along `axis`.

    `x`: any shape.

    `bias`: rank 1: extent `axis` of `x`.

    `axis`, an integer: 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        bias: PatternLike,
        /,
        *,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('bias_add', x, bias, axis=axis)


class Bitcast(Call):
    """The bits of `x` read as another element type.

    `x`: any shape.

    `dtype`, a text, needed in a target: an element type of the same width.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        dtype: AttrLike = None,
    ) -> None:
        super().__init__('bitcast', x, dtype=dtype)


class BitwiseAnd(Call):
    """Bits set in both.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('bitwise_and', lhs, rhs)


class BitwiseNot(Call):
    """Each bit of `x` flipped.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('bitwise_not', x)


class BitwiseOr(Call):
    """Bits set in either.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('bitwise_or', lhs, rhs)


class BitwiseXor(Call):
    """Bits set in one.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('bitwise_xor', lhs, rhs)


class BlackmanWindow(Call):
    """The Blackman window.

    `size`: a scalar: the number of points.

    `dtype`, a text: the element type of the result; `f32` if absent.

    `periodic`, a truth value: one period, not a symmetric window; true if absent.
    """

    def __init__(
        self,
        size: PatternLike,
        /,
        *,
        dtype: AttrLike = None,
        periodic: AttrLike = None,
    ) -> None:
        super().__init__('blackman_window', size, dtype=dtype, periodic=periodic)


class BroadcastTo(Call):
    """`data` repeated so that it has at least the shape.

    `data`: any shape.

    `shape_value`: the shape, when it is no attribute.

    `shape`, integers: extents; 1 keeps that of `data`.
    """

    def __init__(
        self,
        data: PatternLike,
        shape_value: PatternLike | None = None,
        /,
        *,
        shape: AttrLike = None,
    ) -> None:
        super().__init__('broadcast_to', *_present(data, shape_value), shape=shape)


class CELU(Call):
    """`max(0, x) + min(0, alpha * (e^(x / alpha) - 1))`.

    `x`: any shape.

    `alpha`, a number: 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('celu', x, alpha=alpha)


class Cast(Call):
    """`x` converted to another element type.

    `x`: any shape.

    `dtype`, a text, needed in a target: the element type of the result.

    `saturate`, a truth value: for eight-bit floats; true if absent.

    `round_mode`, a text: to a power of two, for `f8E8M0FNU`; up if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        dtype: AttrLike = None,
        saturate: AttrLike = None,
        round_mode: AttrLike = None,
    ) -> None:
        super().__init__('cast', x, dtype=dtype, saturate=saturate, round_mode=round_mode)


class CastLike(Call):
    """`x` converted to the element type of `y`.

    `x`: any shape.

    `y`: only its element type counts.

    `saturate`, a truth value: for eight-bit floats; true if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        y: PatternLike,
        /,
        *,
        saturate: AttrLike = None,
    ) -> None:
        super().__init__('cast_like', x, y, saturate=saturate)


class CausalConvWithState(Call):
    """The convolution of each channel over the past, with what came before.

    `x`: batch, channels, steps.

    `w`: channels, 1, window.

    `bias`: one for each channel; 0 if absent.

    `past_state`: batch, channels, window - 1; 0 if absent.

    `activation`, a text: what follows; none if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        bias: PatternLike | None = None,
        past_state: PatternLike | None = None,
        /,
        *,
        activation: AttrLike = None,
    ) -> None:
        super().__init__('causal_conv_with_state', *_present(x, w, bias, past_state), activation=activation)


class Ceil(Call):
    """The least integer at least `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('ceil', x)


class CenterCropPad(Call):
    """`x` cut or padded with zeros at both ends so that it has the given extents.

    `x`: any shape.

    `shape`: an extent for each axis, rank 1.

    `axes`, integers: the axes that `shape` speaks of; all if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        shape: PatternLike,
        /,
        *,
        axes: AttrLike = None,
    ) -> None:
        super().__init__('center_crop_pad', x, shape, axes=axes)


class Clip(Call):
    """`min(max(x, a_min), a_max)`.

    `x`: any shape.

    `min`: a scalar; no lower bound if absent.

    `max`: a scalar; no upper bound if absent.

    `a_min`, a number: lower bound in place of `min`.

    `a_max`, a number: upper bound in place of `max`.
    """

    def __init__(
        self,
        x: PatternLike,
        min: PatternLike | None = None,
        max: PatternLike | None = None,
        /,
        *,
        a_min: AttrLike = None,
        a_max: AttrLike = None,
    ) -> None:
        super().__init__('clip', *_present(x, min, max), a_min=a_min, a_max=a_max)


class Col2im(Call):
    """Columns of patches added up into an image.

    `x`: batch, channels * patch elements, patches.

    `image_shape`: the spatial extents of the image, rank 1.

    `block_shape`: the spatial extents of a patch, rank 1.

    `dilations`, integers: 1 if absent.

    `pads`, integers: begins, then ends; 0 if absent.

    `strides`, integers: 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        image_shape: PatternLike,
        block_shape: PatternLike,
        /,
        *,
        dilations: AttrLike = None,
        pads: AttrLike = None,
        strides: AttrLike = None,
    ) -> None:
        super().__init__('col2im', x, image_shape, block_shape, dilations=dilations, pads=pads, strides=strides)


class CollapseSumLike(Call):
    """The sum over the dimensions in which `like` is broadcast to the shape of `data`.

    `data`: any shape.

    `like`: a shape that broadcasts to that of `data`.
    """

    def __init__(
        self,
        data: PatternLike,
        like: PatternLike,
        /,
    ) -> None:
        super().__init__('collapse_sum_like', data, like)


class Compress(Call):
    """The slices along `axis` whose flag is true.

    `data`: any shape.

    `condition`: rank 1, booleans.

    `axis`, an integer: the flattened tensor if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        condition: PatternLike,
        /,
        *,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('compress', data, condition, axis=axis)


class ConcatFromSequence(Call):
    """The tensors of a sequence joined along a dimension.

    `sequence`: a sequence of tensors.

    `axis`, an integer, needed in a target: the dimension along which to join.

    `new_axis`, a truth value: stack along a new dimension; false if absent.
    """

    def __init__(
        self,
        sequence: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        new_axis: AttrLike = None,
    ) -> None:
        super().__init__('concat_from_sequence', sequence, axis=axis, new_axis=new_axis)


class Concatenate(Call):
    """The inputs one after the other along a dimension.

    `inputs`: equal extents but along `axis`.

    `axis`, an integer, needed in a target: the dimension along which to join.
    """

    def __init__(
        self,
        *inputs: PatternLike,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('concatenate', *_spread(inputs), axis=axis)


class ContribAttention(Call):
    """Self-attention with the projections before it.

    `x`: batch, steps, width.

    `weights`: width, all features of queries, keys and values.

    `bias`: all features.

    `mask_index`: a mask.

    `past`: 2, batch, heads, past steps, width.

    `attention_bias`: added to the scores.

    `past_sequence_length`: one number.

    `num_heads`, an integer, needed in a target: heads of the queries.

    `scale`, a number: 1 / sqrt(width) if absent.

    `unidirectional`, an integer: 1: a step sees none after it.

    `mask_filter_value`, a number: the score of what is masked.

    `rotary_embedding_dim`, an integer: features rotated.

    `do_rotary`, an integer: 1: rotate queries and keys.

    `past_present_share_buffer`, an integer: 1: one buffer.

    `qkv_hidden_sizes`, integers: features of queries, keys, values.
    """

    def __init__(
        self,
        x: PatternLike,
        weights: PatternLike,
        bias: PatternLike | None = None,
        mask_index: PatternLike | None = None,
        past: PatternLike | None = None,
        attention_bias: PatternLike | None = None,
        past_sequence_length: PatternLike | None = None,
        /,
        *,
        num_heads: AttrLike = None,
        scale: AttrLike = None,
        unidirectional: AttrLike = None,
        mask_filter_value: AttrLike = None,
        rotary_embedding_dim: AttrLike = None,
        do_rotary: AttrLike = None,
        past_present_share_buffer: AttrLike = None,
        qkv_hidden_sizes: AttrLike = None,
    ) -> None:
        super().__init__('contrib_attention', *_present(x, weights, bias, mask_index, past, attention_bias, past_sequence_length), num_heads=num_heads, scale=scale, unidirectional=unidirectional, mask_filter_value=mask_filter_value, rotary_embedding_dim=rotary_embedding_dim, do_rotary=do_rotary, past_present_share_buffer=past_present_share_buffer, qkv_hidden_sizes=qkv_hidden_sizes)


class ContribBiasAdd(Call):
    """`x + bias + skip`.

    `x`: any shape.

    `bias`: rank 1.

    `skip`: the shape of `x`.
    """

    def __init__(
        self,
        x: PatternLike,
        bias: PatternLike,
        skip: PatternLike,
        /,
    ) -> None:
        super().__init__('contrib_bias_add', x, bias, skip)


class ContribBiasGELU(Call):
    """`nn.gelu` of `x + bias`.

    `x`: any shape.

    `bias`: rank 1.
    """

    def __init__(
        self,
        x: PatternLike,
        bias: PatternLike,
        /,
    ) -> None:
        super().__init__('contrib_bias_gelu', x, bias)


class ContribDequantize(Call):
    """`nn.dequantize`, also of 16 and 4 bits.

    `x`: any shape.

    `scale`: a scale.

    `zero_point`: a zero point; 0 if absent.

    `axis`, an integer: a dimension.

    `block_size`, an integer: elements that share a scale.
    """

    def __init__(
        self,
        x: PatternLike,
        scale: PatternLike,
        zero_point: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        block_size: AttrLike = None,
    ) -> None:
        super().__init__('contrib_dequantize', *_present(x, scale, zero_point), axis=axis, block_size=block_size)


class ContribDynamicQuantizeLSTM(Call):
    """`nn.lstm` with quantised weights, transposed; the input is quantised on the way.

    `x`: steps, batch, in.

    `w`: directions, in, 4 * hidden.

    `r`: directions, hidden, 4 * hidden.

    `b`: directions, 8 * hidden.

    `sequence_lens`: batch.

    `initial_h`: directions, batch, hidden.

    `initial_c`: directions, batch, hidden.

    `p`: directions, 3 * hidden.

    `w_scale`: a scale.

    `w_zero_point`: of `w`.

    `r_scale`: a scale.

    `r_zero_point`: of `r`.

    `activations`, texts: functions of the gates.

    `activation_alpha`, numbers: parameters of the functions.

    `activation_beta`, numbers: parameters of the functions.

    `clip`, a number: bound of the gates' inputs.

    `direction`, a text: forward, reverse or bidirectional.

    `hidden_size`, an integer: extent of the state.

    `input_forget`, a truth value: forget = 1 - input.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        r: PatternLike,
        b: PatternLike | None,
        sequence_lens: PatternLike | None,
        initial_h: PatternLike | None,
        initial_c: PatternLike | None,
        p: PatternLike | None,
        w_scale: PatternLike,
        w_zero_point: PatternLike,
        r_scale: PatternLike,
        r_zero_point: PatternLike,
        /,
        *,
        activations: AttrLike = None,
        activation_alpha: AttrLike = None,
        activation_beta: AttrLike = None,
        clip: AttrLike = None,
        direction: AttrLike = None,
        hidden_size: AttrLike = None,
        input_forget: AttrLike = None,
    ) -> None:
        super().__init__('contrib_dynamic_quantize_lstm', *_present(x, w, r, b, sequence_lens, initial_h, initial_c, p, w_scale, w_zero_point, r_scale, r_zero_point), activations=activations, activation_alpha=activation_alpha, activation_beta=activation_beta, clip=clip, direction=direction, hidden_size=hidden_size, input_forget=input_forget)


class ContribDynamicQuantizeMatmul(Call):
    """The product of `a`, quantised on the way, and quantised matrices.

    `a`: matrices.

    `b`: matrices.

    `b_scale`: a scale.

    `b_zero_point`: a zero point; 0 if absent.

    `bias`: one for each column; 0 if absent.
    """

    def __init__(
        self,
        a: PatternLike,
        b: PatternLike,
        b_scale: PatternLike,
        b_zero_point: PatternLike | None = None,
        bias: PatternLike | None = None,
        /,
    ) -> None:
        super().__init__('contrib_dynamic_quantize_matmul', *_present(a, b, b_scale, b_zero_point, bias))


class ContribEmbedLayerNorm(Call):
    """`nn.layer_norm` of a sum of embeddings.

    `input_ids`: batch, steps.

    `segment_ids`: batch, steps.

    `word_embedding`: words, width.

    `position_embedding`: positions, width.

    `segment_embedding`: segments, width.

    `gamma`: width.

    `beta`: width.

    `mask`: batch, steps.

    `position_ids`: batch, steps.

    `epsilon`, a number: added to the variance.

    `mask_index_type`, an integer: what `mask_index` holds.
    """

    def __init__(
        self,
        input_ids: PatternLike,
        segment_ids: PatternLike | None,
        word_embedding: PatternLike,
        position_embedding: PatternLike,
        segment_embedding: PatternLike | None,
        gamma: PatternLike,
        beta: PatternLike,
        mask: PatternLike | None = None,
        position_ids: PatternLike | None = None,
        /,
        *,
        epsilon: AttrLike = None,
        mask_index_type: AttrLike = None,
    ) -> None:
        super().__init__('contrib_embed_layer_norm', *_present(input_ids, segment_ids, word_embedding, position_embedding, segment_embedding, gamma, beta, mask, position_ids), epsilon=epsilon, mask_index_type=mask_index_type)


class ContribFastGELU(Call):
    """`nn.gelu` by tanh, of `x + bias`.

    `x`: any shape.

    `bias`: rank 1.
    """

    def __init__(
        self,
        x: PatternLike,
        bias: PatternLike | None = None,
        /,
    ) -> None:
        super().__init__('contrib_fast_gelu', *_present(x, bias))


class ContribFusedConv(Call):
    """`nn.conv`, a bias, a sum and an activation.

    `x`: batch, channels, then spatial extents.

    `w`: filters, channels / groups, then window extents.

    `bias`: one for each filter.

    `sum`: the shape of the result.

    `strides`, integers: 1 if absent.

    `padding`, integers: begins, then ends; 0 if absent.

    `dilation`, integers: 1 if absent.

    `groups`, an integer: 1 if absent.

    `auto_pad`, a text: in place of `padding`.

    `kernel_shape`, integers: the extents of the window.

    `activation`, a text: what follows; nothing if absent.

    `activation_params`, numbers: of the activation.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        bias: PatternLike | None = None,
        sum: PatternLike | None = None,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
        auto_pad: AttrLike = None,
        kernel_shape: AttrLike = None,
        activation: AttrLike = None,
        activation_params: AttrLike = None,
    ) -> None:
        super().__init__('contrib_fused_conv', *_present(x, w, bias, sum), strides=strides, padding=padding, dilation=dilation, groups=groups, auto_pad=auto_pad, kernel_shape=kernel_shape, activation=activation, activation_params=activation_params)


class ContribFusedGemm(Call):
    """`nn.gemm` and an activation.

    `a`: matrices.

    `b`: matrices.

    `c`: broadcasts to the result; 0 if absent.

    `transpose_a`, a truth value: use `a` transposed.

    `transpose_b`, a truth value: use `b` transposed.

    `alpha`, a number: a factor.

    `beta`, a number: factor of `c`.

    `activation`, a text: what follows; nothing if absent.

    `activation_alpha`, a number: of the activation.

    `activation_beta`, a number: of the activation.

    `activation_gamma`, a number: of the activation.
    """

    def __init__(
        self,
        a: PatternLike,
        b: PatternLike,
        c: PatternLike | None = None,
        /,
        *,
        transpose_a: AttrLike = None,
        transpose_b: AttrLike = None,
        alpha: AttrLike = None,
        beta: AttrLike = None,
        activation: AttrLike = None,
        activation_alpha: AttrLike = None,
        activation_beta: AttrLike = None,
        activation_gamma: AttrLike = None,
    ) -> None:
        super().__init__('contrib_fused_gemm', *_present(a, b, c), transpose_a=transpose_a, transpose_b=transpose_b, alpha=alpha, beta=beta, activation=activation, activation_alpha=activation_alpha, activation_beta=activation_beta, activation_gamma=activation_gamma)


class ContribFusedMatmul(Call):
    """`alpha` times the product of matrices, transposed as asked.

    `a`: matrices.

    `b`: matrices.

    `transpose_a`, a truth value: use `a` transposed.

    `transpose_b`, a truth value: use `b` transposed.

    `transpose_batch_a`, a truth value: the first dimension of `a` is its rows.

    `transpose_batch_b`, a truth value: the first dimension of `b` is its rows.

    `alpha`, a number: a factor.
    """

    def __init__(
        self,
        a: PatternLike,
        b: PatternLike,
        /,
        *,
        transpose_a: AttrLike = None,
        transpose_b: AttrLike = None,
        transpose_batch_a: AttrLike = None,
        transpose_batch_b: AttrLike = None,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('contrib_fused_matmul', a, b, transpose_a=transpose_a, transpose_b=transpose_b, transpose_batch_a=transpose_batch_a, transpose_batch_b=transpose_batch_b, alpha=alpha)


class ContribGELU(Call):
    """`nn.gelu`, exact.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('contrib_gelu', x)


class ContribGroupQueryAttention(Call):
    """Attention in which several heads share keys and values.

    `query`: batch, steps, width; or queries, keys and values packed.

    `key`: batch, kv steps, width.

    `value`: batch, kv steps, width.

    `past_key`: batch, kv heads, past steps, width.

    `past_value`: batch, kv heads, past steps, width.

    `seqlens_k`: batch.

    `total_sequence_length`: one number.

    `cos_cache`: positions, width / 2.

    `sin_cache`: positions, width / 2.

    `others`: position ids, bias of the scores, sinks, scales, norms.

    `num_heads`, an integer, needed in a target: heads of the queries.

    `kv_num_heads`, an integer, needed in a target: heads of keys and values.

    `scale`, a number: 1 / sqrt(width) if absent.

    `softcap`, a number: bounds the scores.

    `do_rotary`, an integer: 1: rotate queries and keys.

    `rotary_interleaved`, an integer: 1: pairs are neighbours.

    `local_window_size`, an integer: steps that are seen; -1: all.

    `smooth_softmax`, an integer: 1: with one more in the sum.
    """

    def __init__(
        self,
        query: PatternLike,
        key: PatternLike | None,
        value: PatternLike | None,
        past_key: PatternLike | None,
        past_value: PatternLike | None,
        seqlens_k: PatternLike,
        total_sequence_length: PatternLike,
        cos_cache: PatternLike | None = None,
        sin_cache: PatternLike | None = None,
        *others: PatternLike,
        num_heads: AttrLike = None,
        kv_num_heads: AttrLike = None,
        scale: AttrLike = None,
        softcap: AttrLike = None,
        do_rotary: AttrLike = None,
        rotary_interleaved: AttrLike = None,
        local_window_size: AttrLike = None,
        smooth_softmax: AttrLike = None,
    ) -> None:
        super().__init__('contrib_group_query_attention', *_present(query, key, value, past_key, past_value, seqlens_k, total_sequence_length, cos_cache, sin_cache, *_spread(others)), num_heads=num_heads, kv_num_heads=kv_num_heads, scale=scale, softcap=softcap, do_rotary=do_rotary, rotary_interleaved=rotary_interleaved, local_window_size=local_window_size, smooth_softmax=smooth_softmax)


class ContribMatmulIntegerToFloat(Call):
    """The product of quantised matrices, as real numbers.

    `a`: matrices.

    `b`: matrices.

    `a_scale`: a scale.

    `b_scale`: a scale.

    `a_zero_point`: a zero point; 0 if absent.

    `b_zero_point`: a zero point; 0 if absent.

    `bias`: one for each column; 0 if absent.
    """

    def __init__(
        self,
        a: PatternLike,
        b: PatternLike,
        a_scale: PatternLike,
        b_scale: PatternLike,
        a_zero_point: PatternLike | None = None,
        b_zero_point: PatternLike | None = None,
        bias: PatternLike | None = None,
        /,
    ) -> None:
        super().__init__('contrib_matmul_integer_to_float', *_present(a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias))


class ContribMatmulNbits(Call):
    """`a` times a matrix of few bits, quantised in blocks.

    `a`: batch extents, then rows and `K`.

    `b`: packed.

    `scales`: a scale.

    `zero_points`: of the blocks.

    `g_idx`: of the blocks.

    `bias`: `N`.

    `K`, an integer, needed in a target: columns of `a`.

    `N`, an integer, needed in a target: columns of the result.

    `bits`, an integer: of an element of `b`.

    `block_size`, an integer: elements that share a scale.

    `accuracy_level`, an integer: of the product.

    `weight_prepacked`, an integer: the layout of `b`.
    """

    def __init__(
        self,
        a: PatternLike,
        b: PatternLike,
        scales: PatternLike,
        zero_points: PatternLike | None = None,
        g_idx: PatternLike | None = None,
        bias: PatternLike | None = None,
        /,
        *,
        K: AttrLike = None,
        N: AttrLike = None,
        bits: AttrLike = None,
        block_size: AttrLike = None,
        accuracy_level: AttrLike = None,
        weight_prepacked: AttrLike = None,
    ) -> None:
        super().__init__('contrib_matmul_nbits', *_present(a, b, scales, zero_points, g_idx, bias), K=K, N=N, bits=bits, block_size=block_size, accuracy_level=accuracy_level, weight_prepacked=weight_prepacked)


class ContribMultiHeadAttention(Call):
    """Attention of projected queries, keys and values.

    `query`: batch, steps, width; or packed: batch, steps, heads, 3, width.

    `key`: batch, kv steps, width; or batch, heads, kv steps, width.

    `value`: batch, kv steps, width; or batch, heads, kv steps, width.

    `bias`: all features.

    `key_padding_mask`: a mask.

    `attention_bias`: added to the scores.

    `past_key`: batch, heads, past steps, width.

    `past_value`: batch, heads, past steps, width.

    `past_sequence_length`: one number.

    `cache_indirection`: of a beam search.

    `num_heads`, an integer, needed in a target: heads of the queries.

    `scale`, a number: 1 / sqrt(width) if absent.

    `unidirectional`, an integer: 1: a step sees none after it.

    `mask_filter_value`, a number: the score of what is masked.
    """

    def __init__(
        self,
        query: PatternLike,
        key: PatternLike | None = None,
        value: PatternLike | None = None,
        bias: PatternLike | None = None,
        key_padding_mask: PatternLike | None = None,
        attention_bias: PatternLike | None = None,
        past_key: PatternLike | None = None,
        past_value: PatternLike | None = None,
        past_sequence_length: PatternLike | None = None,
        cache_indirection: PatternLike | None = None,
        /,
        *,
        num_heads: AttrLike = None,
        scale: AttrLike = None,
        unidirectional: AttrLike = None,
        mask_filter_value: AttrLike = None,
    ) -> None:
        super().__init__('contrib_multi_head_attention', *_present(query, key, value, bias, key_padding_mask, attention_bias, past_key, past_value, past_sequence_length, cache_indirection), num_heads=num_heads, scale=scale, unidirectional=unidirectional, mask_filter_value=mask_filter_value)


class ContribQLinearAdd(Call):
    """The sum, quantised.

    `a`: any shape.

    `a_scale`: a scale.

    `a_zero_point`: a zero point; 0 if absent.

    `b`: a shape that broadcasts with `a`.

    `b_scale`: a scale.

    `b_zero_point`: a zero point; 0 if absent.

    `y_scale`: a scale.

    `y_zero_point`: a zero point; 0 if absent.
    """

    def __init__(
        self,
        a: PatternLike,
        a_scale: PatternLike,
        a_zero_point: PatternLike | None,
        b: PatternLike,
        b_scale: PatternLike,
        b_zero_point: PatternLike | None,
        y_scale: PatternLike,
        y_zero_point: PatternLike | None = None,
        /,
    ) -> None:
        super().__init__('contrib_qlinear_add', *_present(a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point))


class ContribQLinearConcat(Call):
    """Quantised tensors joined along a dimension.

    `y_scale`: a scale.

    `y_zero_point`: says the element type.

    `inputs`: for each tensor: values, scale, zero point.

    `axis`, an integer, needed in a target: the dimension along which to join.
    """

    def __init__(
        self,
        y_scale: PatternLike,
        y_zero_point: PatternLike,
        *inputs: PatternLike,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('contrib_qlinear_concat', y_scale, y_zero_point, *_spread(inputs), axis=axis)


class ContribQLinearGlobalAvgPool(Call):
    """`nn.global_avg_pool`, quantised.

    `x`: any shape.

    `x_scale`: a scale.

    `x_zero_point`: a zero point; 0 if absent.

    `y_scale`: a scale.

    `y_zero_point`: a zero point; 0 if absent.

    `channels_last`, a truth value: channels stand last.
    """

    def __init__(
        self,
        x: PatternLike,
        x_scale: PatternLike,
        x_zero_point: PatternLike | None,
        y_scale: PatternLike,
        y_zero_point: PatternLike | None = None,
        /,
        *,
        channels_last: AttrLike = None,
    ) -> None:
        super().__init__('contrib_qlinear_global_avg_pool', *_present(x, x_scale, x_zero_point, y_scale, y_zero_point), channels_last=channels_last)


class ContribQLinearLeakyReLU(Call):
    """`nn.leaky_relu`, quantised.

    `x`: any shape.

    `x_scale`: a scale.

    `x_zero_point`: a zero point; 0 if absent.

    `y_scale`: a scale.

    `y_zero_point`: a zero point; 0 if absent.

    `alpha`, a number: a factor.
    """

    def __init__(
        self,
        x: PatternLike,
        x_scale: PatternLike,
        x_zero_point: PatternLike | None,
        y_scale: PatternLike,
        y_zero_point: PatternLike | None = None,
        /,
        *,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('contrib_qlinear_leaky_relu', *_present(x, x_scale, x_zero_point, y_scale, y_zero_point), alpha=alpha)


class ContribQLinearMultiply(Call):
    """The product of elements, quantised.

    `a`: any shape.

    `a_scale`: a scale.

    `a_zero_point`: a zero point; 0 if absent.

    `b`: a shape that broadcasts with `a`.

    `b_scale`: a scale.

    `b_zero_point`: a zero point; 0 if absent.

    `y_scale`: a scale.

    `y_zero_point`: a zero point; 0 if absent.
    """

    def __init__(
        self,
        a: PatternLike,
        a_scale: PatternLike,
        a_zero_point: PatternLike | None,
        b: PatternLike,
        b_scale: PatternLike,
        b_zero_point: PatternLike | None,
        y_scale: PatternLike,
        y_zero_point: PatternLike | None = None,
        /,
    ) -> None:
        super().__init__('contrib_qlinear_multiply', *_present(a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point))


class ContribQLinearSigmoid(Call):
    """`nn.sigmoid`, quantised.

    `x`: any shape.

    `x_scale`: a scale.

    `x_zero_point`: a zero point; 0 if absent.

    `y_scale`: a scale.

    `y_zero_point`: a zero point; 0 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        x_scale: PatternLike,
        x_zero_point: PatternLike | None,
        y_scale: PatternLike,
        y_zero_point: PatternLike | None = None,
        /,
    ) -> None:
        super().__init__('contrib_qlinear_sigmoid', *_present(x, x_scale, x_zero_point, y_scale, y_zero_point))


class ContribQLinearSoftmax(Call):
    """`nn.softmax`, quantised.

    `x`: any shape.

    `x_scale`: a scale.

    `x_zero_point`: a zero point; 0 if absent.

    `y_scale`: a scale.

    `y_zero_point`: a zero point; 0 if absent.

    `axis`, an integer: a dimension.

    `opset`, an integer: whose softmax.
    """

    def __init__(
        self,
        x: PatternLike,
        x_scale: PatternLike,
        x_zero_point: PatternLike | None,
        y_scale: PatternLike,
        y_zero_point: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        opset: AttrLike = None,
    ) -> None:
        super().__init__('contrib_qlinear_softmax', *_present(x, x_scale, x_zero_point, y_scale, y_zero_point), axis=axis, opset=opset)


class ContribQgemm(Call):
    """`nn.gemm` of quantised matrices.

    `a`: matrices.

    `a_scale`: a scale.

    `a_zero_point`: a zero point; 0 if absent.

    `b`: matrices.

    `b_scale`: a scale.

    `b_zero_point`: a zero point; 0 if absent.

    `c`: one for each column, `i32`.

    `y_scale`: absent: the result is real.

    `y_zero_point`: a zero point; 0 if absent.

    `transpose_a`, a truth value: use `a` transposed.

    `transpose_b`, a truth value: use `b` transposed.

    `alpha`, a number: a factor.
    """

    def __init__(
        self,
        a: PatternLike,
        a_scale: PatternLike,
        a_zero_point: PatternLike | None,
        b: PatternLike,
        b_scale: PatternLike,
        b_zero_point: PatternLike | None = None,
        c: PatternLike | None = None,
        y_scale: PatternLike | None = None,
        y_zero_point: PatternLike | None = None,
        /,
        *,
        transpose_a: AttrLike = None,
        transpose_b: AttrLike = None,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('contrib_qgemm', *_present(a, a_scale, a_zero_point, b, b_scale, b_zero_point, c, y_scale, y_zero_point), transpose_a=transpose_a, transpose_b=transpose_b, alpha=alpha)


class ContribQuantize(Call):
    """`nn.quantize`, also to 16 and 4 bits.

    `x`: any shape.

    `scale`: a scale.

    `zero_point`: a zero point; 0 if absent.

    `axis`, an integer: a dimension.

    `block_size`, an integer: elements that share a scale.
    """

    def __init__(
        self,
        x: PatternLike,
        scale: PatternLike,
        zero_point: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        block_size: AttrLike = None,
    ) -> None:
        super().__init__('contrib_quantize', *_present(x, scale, zero_point), axis=axis, block_size=block_size)


class ContribQuickGELU(Call):
    """`x * sigmoid(alpha * x)`.

    `x`: any shape.

    `alpha`, a number: a factor.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('contrib_quick_gelu', x, alpha=alpha)


class ContribRmsNorm(Call):
    """`nn.rms_norm`.

    `x`: any shape.

    `scale`: the normalised extents.

    `axis`, an integer: a dimension.

    `epsilon`, a number: added to the variance.

    `stash_type`, an integer: ONNX's number of a type.
    """

    def __init__(
        self,
        x: PatternLike,
        scale: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        epsilon: AttrLike = None,
        stash_type: AttrLike = None,
    ) -> None:
        super().__init__('contrib_rms_norm', x, scale, axis=axis, epsilon=epsilon, stash_type=stash_type)


class ContribRotaryEmbedding(Call):
    """Pairs of features rotated by an angle that grows with the position.

    `x`: any shape.

    `position_ids`: batch, steps; or one.

    `cos_cache`: positions, width / 2.

    `sin_cache`: positions, width / 2.

    `interleaved`, a truth value: pairs are neighbours.

    `num_heads`, an integer: heads of an operand of rank 3.

    `rotary_embedding_dim`, an integer: features rotated.

    `is_packed_batching`, an integer: batches are packed.

    `scale`, a number: 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        position_ids: PatternLike,
        cos_cache: PatternLike,
        sin_cache: PatternLike,
        /,
        *,
        interleaved: AttrLike = None,
        num_heads: AttrLike = None,
        rotary_embedding_dim: AttrLike = None,
        is_packed_batching: AttrLike = None,
        scale: AttrLike = None,
    ) -> None:
        super().__init__('contrib_rotary_embedding', x, position_ids, cos_cache, sin_cache, interleaved=interleaved, num_heads=num_heads, rotary_embedding_dim=rotary_embedding_dim, is_packed_batching=is_packed_batching, scale=scale)


class ContribSkipLayerNorm(Call):
    """`nn.layer_norm` of `x + skip + bias`.

    `x`: any shape.

    `skip`: broadcasts to the shape of `x`.

    `gamma`: rank 1.

    `beta`: rank 1.

    `bias`: rank 1.

    `epsilon`, a number: added to the variance.
    """

    def __init__(
        self,
        x: PatternLike,
        skip: PatternLike,
        gamma: PatternLike,
        beta: PatternLike | None = None,
        bias: PatternLike | None = None,
        /,
        *,
        epsilon: AttrLike = None,
    ) -> None:
        super().__init__('contrib_skip_layer_norm', *_present(x, skip, gamma, beta, bias), epsilon=epsilon)


class ContribSkipRmsNorm(Call):
    """`nn.rms_norm` of `x + skip + bias`.

    `x`: any shape.

    `skip`: broadcasts to the shape of `x`.

    `gamma`: rank 1.

    `bias`: rank 1.

    `epsilon`, a number: added to the variance.
    """

    def __init__(
        self,
        x: PatternLike,
        skip: PatternLike,
        gamma: PatternLike,
        bias: PatternLike | None = None,
        /,
        *,
        epsilon: AttrLike = None,
    ) -> None:
        super().__init__('contrib_skip_rms_norm', *_present(x, skip, gamma, bias), epsilon=epsilon)


class ContribTransposeMatmul(Call):
    """`alpha` times the product of matrices, transposed as asked.

    `a`: matrices.

    `b`: matrices.

    `transpose_a`, a truth value: use `a` transposed.

    `transpose_b`, a truth value: use `b` transposed.

    `transpose_batch_a`, a truth value: the first dimension of `a` is its rows.

    `transpose_batch_b`, a truth value: the first dimension of `b` is its rows.

    `alpha`, a number: a factor.
    """

    def __init__(
        self,
        a: PatternLike,
        b: PatternLike,
        /,
        *,
        transpose_a: AttrLike = None,
        transpose_b: AttrLike = None,
        transpose_batch_a: AttrLike = None,
        transpose_batch_b: AttrLike = None,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('contrib_transpose_matmul', a, b, transpose_a=transpose_a, transpose_b=transpose_b, transpose_batch_a=transpose_batch_a, transpose_batch_b=transpose_batch_b, alpha=alpha)


class Conv(Call):
    """The convolution over any number of spatial dimensions.

    `x`: batch, channels, then spatial extents.

    `w`: filters, channels / groups, then window extents.

    `strides`, integers: steps between windows, one for each spatial dimension; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `groups`, an integer: channels are cut into that many independent parts; 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
    ) -> None:
        super().__init__('conv', x, w, strides=strides, padding=padding, dilation=dilation, groups=groups)


class Conv1D(Call):
    """The convolution over one spatial dimension.

    `x`: batch, channels, then spatial extents.

    `w`: filters, channels / groups, then window extents.

    `strides`, integers: steps between windows, one for each spatial dimension; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `groups`, an integer: channels are cut into that many independent parts; 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
    ) -> None:
        super().__init__('conv1d', x, w, strides=strides, padding=padding, dilation=dilation, groups=groups)


class Conv1DTranspose(Call):
    """The gradient of `conv1d` by its input.

    `x`: batch, channels, then spatial extents.

    `w`: channels, filters / groups, then window extents.

    `strides`, integers: steps between windows, one for each spatial dimension; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `groups`, an integer: channels are cut into that many independent parts; 1 if absent.

    `output_padding`, integers: added to each spatial extent; 0 if absent.

    `output_shape`, integers: the spatial extents, in place of `padding`.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
        output_padding: AttrLike = None,
        output_shape: AttrLike = None,
    ) -> None:
        super().__init__('conv1d_transpose', x, w, strides=strides, padding=padding, dilation=dilation, groups=groups, output_padding=output_padding, output_shape=output_shape)


class Conv2D(Call):
    """The convolution over two spatial dimensions.

    `x`: batch, channels, then spatial extents.

    `w`: filters, channels / groups, then window extents.

    `strides`, integers: steps between windows, one for each spatial dimension; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `groups`, an integer: channels are cut into that many independent parts; 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
    ) -> None:
        super().__init__('conv2d', x, w, strides=strides, padding=padding, dilation=dilation, groups=groups)


class Conv2DTranspose(Call):
    """The gradient of `conv2d` by its input.

    `x`: batch, channels, then spatial extents.

    `w`: channels, filters / groups, then window extents.

    `strides`, integers: steps between windows, one for each spatial dimension; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `groups`, an integer: channels are cut into that many independent parts; 1 if absent.

    `output_padding`, integers: added to each spatial extent; 0 if absent.

    `output_shape`, integers: the spatial extents, in place of `padding`.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
        output_padding: AttrLike = None,
        output_shape: AttrLike = None,
    ) -> None:
        super().__init__('conv2d_transpose', x, w, strides=strides, padding=padding, dilation=dilation, groups=groups, output_padding=output_padding, output_shape=output_shape)


class Conv3D(Call):
    """The convolution over three spatial dimensions.

    `x`: batch, channels, then spatial extents.

    `w`: filters, channels / groups, then window extents.

    `strides`, integers: steps between windows, one for each spatial dimension; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `groups`, an integer: channels are cut into that many independent parts; 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
    ) -> None:
        super().__init__('conv3d', x, w, strides=strides, padding=padding, dilation=dilation, groups=groups)


class Conv3DTranspose(Call):
    """The gradient of `conv3d` by its input.

    `x`: batch, channels, then spatial extents.

    `w`: channels, filters / groups, then window extents.

    `strides`, integers: steps between windows, one for each spatial dimension; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `groups`, an integer: channels are cut into that many independent parts; 1 if absent.

    `output_padding`, integers: added to each spatial extent; 0 if absent.

    `output_shape`, integers: the spatial extents, in place of `padding`.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
        output_padding: AttrLike = None,
        output_shape: AttrLike = None,
    ) -> None:
        super().__init__('conv3d_transpose', x, w, strides=strides, padding=padding, dilation=dilation, groups=groups, output_padding=output_padding, output_shape=output_shape)


class ConvInteger(Call):
    """The convolution of quantised tensors, in `i32`.

    `x`: batch, channels, then spatial extents; 8-bit.

    `w`: filters, channels / groups, then window extents; 8-bit.

    `x_zero_point`: a scalar; 0 if absent.

    `w_zero_point`: a scalar or one for each filter; 0 if absent.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `groups`, an integer: independent parts; 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        x_zero_point: PatternLike | None = None,
        w_zero_point: PatternLike | None = None,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
    ) -> None:
        super().__init__('conv_integer', *_present(x, w, x_zero_point, w_zero_point), strides=strides, padding=padding, dilation=dilation, groups=groups)


class ConvTranspose(Call):
    """The gradient of `conv` by its input.

    `x`: batch, channels, then spatial extents.

    `w`: channels, filters / groups, then window extents.

    `strides`, integers: steps between windows, one for each spatial dimension; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `groups`, an integer: channels are cut into that many independent parts; 1 if absent.

    `output_padding`, integers: added to each spatial extent; 0 if absent.

    `output_shape`, integers: the spatial extents, in place of `padding`.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
        output_padding: AttrLike = None,
        output_shape: AttrLike = None,
    ) -> None:
        super().__init__('conv_transpose', x, w, strides=strides, padding=padding, dilation=dilation, groups=groups, output_padding=output_padding, output_shape=output_shape)


class Cos(Call):
    """The cosine of `x` in radians.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('cos', x)


class Cosh(Call):
    """The hyperbolic cosine of `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('cosh', x)


class CumProd(Call):
    """Running products along `axis`.

    `data`: any shape.

    `axis_value`: a scalar, when it is no attribute.

    `axis`, an integer: the dimension, in place of the operand.

    `exclusive`, a truth value: leave out the element itself; false if absent.

    `reverse`, a truth value: run from the end; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axis_value: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        exclusive: AttrLike = None,
        reverse: AttrLike = None,
    ) -> None:
        super().__init__('cumprod', *_present(data, axis_value), axis=axis, exclusive=exclusive, reverse=reverse)


class CumSum(Call):
    """Running sums along `axis`.

    `data`: any shape.

    `axis_value`: a scalar, when it is no attribute.

    `axis`, an integer: the dimension, in place of the operand.

    `exclusive`, a truth value: leave out the element itself; false if absent.

    `reverse`, a truth value: run from the end; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axis_value: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        exclusive: AttrLike = None,
        reverse: AttrLike = None,
    ) -> None:
        super().__init__('cumsum', *_present(data, axis_value), axis=axis, exclusive=exclusive, reverse=reverse)


class DFT(Call):
    """The discrete Fourier transform along a dimension.

    `x`: any extents, then 1 (real) or 2 (complex).

    `dft_length`: a scalar: cut or pad to it first; the extent if absent.

    `axis_value`: a scalar; -2 if absent.

    `axis`, an integer: the dimension, in place of the operand.

    `inverse`, a truth value: the inverse transform; false if absent.

    `onesided`, a truth value: only the first half of the bins and one more.
    """

    def __init__(
        self,
        x: PatternLike,
        dft_length: PatternLike | None = None,
        axis_value: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        inverse: AttrLike = None,
        onesided: AttrLike = None,
    ) -> None:
        super().__init__('dft', *_present(x, dft_length, axis_value), axis=axis, inverse=inverse, onesided=onesided)


class DeformConv(Call):
    """The convolution in which each place of each window is moved by an offset.

    `x`: batch, channels, then spatial extents.

    `w`: filters, channels / groups, then window extents.

    `offset`: batch, offset groups * window places * 2, then spatial extents.

    `bias`: one for each filter; 0 if absent.

    `mask`: batch, offset groups * window places, then spatial extents.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers: begins, then ends; 0 if absent.

    `dilation`, integers: steps between places of a window; 1 if absent.

    `groups`, an integer: independent parts; 1 if absent.

    `offset_group`, an integer: parts with offsets of their own; 1 if absent.

    `kernel_shape`, integers: window extents; those of `w` if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        offset: PatternLike,
        bias: PatternLike | None = None,
        mask: PatternLike | None = None,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
        offset_group: AttrLike = None,
        kernel_shape: AttrLike = None,
    ) -> None:
        super().__init__('deform_conv', *_present(x, w, offset, bias, mask), strides=strides, padding=padding, dilation=dilation, groups=groups, offset_group=offset_group, kernel_shape=kernel_shape)


class Dense(Call):
    """`x` times the transpose of `w`.

    `x`: rows, in.

    `w`: units, in.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        /,
    ) -> None:
        super().__init__('dense', x, w)


class DepthToSpace(Call):
    """Channels rearranged into blocks of pixels.

    `data`: rank 4: batch, channels, height, width.

    `block_size`, an integer, needed in a target: the side of a block.

    `mode`, a text: order of channels; DCR if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        block_size: AttrLike = None,
        mode: AttrLike = None,
    ) -> None:
        super().__init__('depth_to_space', data, block_size=block_size, mode=mode)


class Dequantize(Call):
    """`(x - zero_point) * scale`.

    `x`: any shape.

    `scale`: a scalar, one number for each place along `axis`, or one for each block.

    `zero_point`: the shape of `scale`; 0 if absent.

    `axis`, an integer: 1 if absent.

    `block_size`, an integer: places along `axis` that share a scale; 0 (none) if absent.

    `output_dtype`, a text: the element type of the result; that of an operand if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        scale: PatternLike,
        zero_point: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        block_size: AttrLike = None,
        output_dtype: AttrLike = None,
    ) -> None:
        super().__init__('dequantize', *_present(x, scale, zero_point), axis=axis, block_size=block_size, output_dtype=output_dtype)


class Det(Call):
    """The determinant of each matrix.

    `x`: any extents, then n by n.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('det', x)


class Divide(Call):
    """`lhs / rhs`; integers are truncated towards 0.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('divide', lhs, rhs)


class Dropout(Call):
    """`x`: dropout as it is in inference.

    `x`: any shape.

    `rate`, a number: the share of elements dropped in training.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        rate: AttrLike = None,
    ) -> None:
        super().__init__('dropout', x, rate=rate)


class DropoutTraining(Call):
    """`x` with some elements 0, the others enlarged.

    `x`: any shape.

    `ratio`: a scalar: the share that becomes 0; 0.5 if absent.

    `training`: a scalar: whether anything happens; false if absent.

    `seed`, an integer: of the generator; any if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        ratio: PatternLike | None = None,
        training: PatternLike | None = None,
        /,
        *,
        seed: AttrLike = None,
    ) -> None:
        super().__init__('dropout_training', *_present(x, ratio, training), seed=seed)


class DynamicQuantize(Call):
    """`x` quantised to `ui8` with a scale that just covers its range.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('dynamic_quantize', x)


class ELU(Call):
    """`x` where positive, else `alpha * (e^x - 1)`.

    `x`: any shape.

    `alpha`, a number: 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('elu', x, alpha=alpha)


class Einsum(Call):
    """The sum of products that an equation describes.

    `inputs`: one shape for each term of the equation.

    `equation`, a text, needed in a target: `ij,jk->ik`: letters name dimensions, those without
    a place in the result are summed.
    """

    def __init__(
        self,
        *inputs: PatternLike,
        equation: AttrLike = None,
    ) -> None:
        super().__init__('einsum', *_spread(inputs), equation=equation)


class Equal(Call):
    """`lhs = rhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('equal', lhs, rhs)


class Erf(Call):
    """The Gauss error function of `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('erf', x)


class Exp(Call):
    """`e^x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('exp', x)


class ExpandDims(Call):
    """`data` with new dimensions of extent 1.

    `data`: any shape.

    `axes`: places of the new dimensions, when they are no attribute.

    `axis`, integers: places of the new dimensions, counted in the result.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('expand_dims', *_present(data, axes), axis=axis)


class EyeLike(Call):
    """Ones on a diagonal, zeros elsewhere.

    `data`: rank 2; only its shape counts.

    `k`, an integer: the diagonal that holds ones; 0 if absent.

    `dtype`, a text: the element type; that of `data` if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        k: AttrLike = None,
        dtype: AttrLike = None,
    ) -> None:
        super().__init__('eye_like', data, k=k, dtype=dtype)


class Flatten(Call):
    """`data` as a matrix.

    `data`: any shape.

    `axis`, an integer, needed in a target: extents before it are merged into the first, the
    others into the second.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('flatten', data, axis=axis)


class Floor(Call):
    """The greatest integer at most `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('floor', x)


class Full(Call):
    """A tensor with one value throughout.

    `shape_value`: the extents, when they are no attribute.

    `shape`, integers: the extents.

    `value`, any value: one element; `0 : f32` if absent.
    """

    def __init__(
        self,
        shape_value: PatternLike | None = None,
        /,
        *,
        shape: AttrLike = None,
        value: AttrLike = None,
    ) -> None:
        super().__init__('full', *_present(shape_value), shape=shape, value=value)


class GELU(Call):
    """`x` times the normal distribution function at `x`.

    `x`: any shape.

    `approximate`, a text: `none` (exact) if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        approximate: AttrLike = None,
    ) -> None:
        super().__init__('gelu', x, approximate=approximate)


class GRU(Call):
    """A layer of gated recurrent units; gates in the order update, reset, hidden.

    `x`: steps, batch, in (`layout` 1: batch, steps, in).

    `w`: directions, gates * hidden, in: weights of the input.

    `r`: directions, gates * hidden, hidden: weights of the state.

    `b`: directions, 2 * gates * hidden; 0 if absent.

    `sequence_lens`: batch, `i32`; all steps if absent.

    `initial_h`: directions, batch, hidden; 0 if absent.

    `activations`, texts: functions of the gates; ONNX's defaults if absent.

    `activation_alpha`, numbers: parameters of the functions.

    `activation_beta`, numbers: parameters of the functions.

    `clip`, a number: bound of the gates' inputs; none if absent.

    `direction`, a text: forward if absent.

    `hidden_size`, an integer: extent of the state; that of `r` if absent.

    `layout`, an integer: 1: batch before steps; 0 if absent.

    `linear_before_reset`, a truth value: the reset gate applies after the weights; false if
    absent.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        r: PatternLike,
        b: PatternLike | None = None,
        sequence_lens: PatternLike | None = None,
        initial_h: PatternLike | None = None,
        /,
        *,
        activations: AttrLike = None,
        activation_alpha: AttrLike = None,
        activation_beta: AttrLike = None,
        clip: AttrLike = None,
        direction: AttrLike = None,
        hidden_size: AttrLike = None,
        layout: AttrLike = None,
        linear_before_reset: AttrLike = None,
    ) -> None:
        super().__init__('gru', *_present(x, w, r, b, sequence_lens, initial_h), activations=activations, activation_alpha=activation_alpha, activation_beta=activation_beta, clip=clip, direction=direction, hidden_size=hidden_size, layout=layout, linear_before_reset=linear_before_reset)


class GatherElements(Call):
    """For each index, the element of `data` at that place along `axis`.

    `data`: any shape.

    `indices`: the rank of `data`.

    `axis`, an integer: 0 if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        indices: PatternLike,
        /,
        *,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('gather_elements', data, indices, axis=axis)


class GatherND(Call):
    """The slices of `data` at the index vectors in the last dimension of `indices`.

    `data`: any shape.

    `indices`: at least rank 1.

    `batch_dims`, an integer: leading dimensions in common; 0 if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        indices: PatternLike,
        /,
        *,
        batch_dims: AttrLike = None,
    ) -> None:
        super().__init__('gather_nd', data, indices, batch_dims=batch_dims)


class Gemm(Call):
    """`alpha * a * b + beta * c`.

    `a`: m by k; k by m if `transpose_a`.

    `b`: k by n; n by k if `transpose_b`.

    `c`: broadcasts to m by n; 0 if absent.

    `alpha`, a number: factor of the product; 1 if absent.

    `beta`, a number: factor of `c`; 1 if absent.

    `transpose_a`, a truth value: use `a` transposed; false if absent.

    `transpose_b`, a truth value: use `b` transposed; false if absent.
    """

    def __init__(
        self,
        a: PatternLike,
        b: PatternLike,
        c: PatternLike | None = None,
        /,
        *,
        alpha: AttrLike = None,
        beta: AttrLike = None,
        transpose_a: AttrLike = None,
        transpose_b: AttrLike = None,
    ) -> None:
        super().__init__('gemm', *_present(a, b, c), alpha=alpha, beta=beta, transpose_a=transpose_a, transpose_b=transpose_b)


class GlobalAvgPool(Call):
    """The mean of each channel.

    `x`: batch, channels, then spatial extents.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('global_avg_pool', x)


class GlobalLpPool(Call):
    """The p-norm of each channel.

    `x`: batch, channels, then spatial extents.

    `p`, an integer: the exponent of the norm; 2 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        p: AttrLike = None,
    ) -> None:
        super().__init__('global_lp_pool', x, p=p)


class GlobalMaxPool(Call):
    """The greatest element of each channel.

    `x`: batch, channels, then spatial extents.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('global_max_pool', x)


class Greater(Call):
    """`lhs > rhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('greater', lhs, rhs)


class GreaterEqual(Call):
    """`lhs >= rhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('greater_equal', lhs, rhs)


class GridSample(Call):
    """`x` interpolated at coordinates between -1 and 1.

    `x`: batch, channels, then spatial extents.

    `grid`: batch, spatial extents, then coordinates, innermost first.

    `mode`, a text: linear if absent.

    `padding_mode`, a text: what lies outside; zeros if absent.

    `align_corners`, a truth value: -1 and 1 are the centres of the outer pixels, not their
    edges; false if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        grid: PatternLike,
        /,
        *,
        mode: AttrLike = None,
        padding_mode: AttrLike = None,
        align_corners: AttrLike = None,
    ) -> None:
        super().__init__('grid_sample', x, grid, mode=mode, padding_mode=padding_mode, align_corners=align_corners)


class GroupNorm(Call):
    """Each group of channels of each batch with mean 0 and variance 1, scaled and shifted.

    `x`: batch, channels, then spatial extents.

    `gamma`: channels.

    `beta`: channels.

    `num_groups`, an integer, needed in a target: divides the number of channels.

    `epsilon`, a number: added to the variance before the root; 1e-5 if absent.

    `stash_type`, an integer: ONNX's number of the float type to compute in; 1 (`f32`) if
    absent.
    """

    def __init__(
        self,
        x: PatternLike,
        gamma: PatternLike,
        beta: PatternLike,
        /,
        *,
        num_groups: AttrLike = None,
        epsilon: AttrLike = None,
        stash_type: AttrLike = None,
    ) -> None:
        super().__init__('group_norm', x, gamma, beta, num_groups=num_groups, epsilon=epsilon, stash_type=stash_type)


class HammingWindow(Call):
    """The Hamming window.

    `size`: a scalar: the number of points.

    `dtype`, a text: the element type of the result; `f32` if absent.

    `periodic`, a truth value: one period, not a symmetric window; true if absent.
    """

    def __init__(
        self,
        size: PatternLike,
        /,
        *,
        dtype: AttrLike = None,
        periodic: AttrLike = None,
    ) -> None:
        super().__init__('hamming_window', size, dtype=dtype, periodic=periodic)


class HannWindow(Call):
    """The Hann window.

    `size`: a scalar: the number of points.

    `dtype`, a text: the element type of the result; `f32` if absent.

    `periodic`, a truth value: one period, not a symmetric window; true if absent.
    """

    def __init__(
        self,
        size: PatternLike,
        /,
        *,
        dtype: AttrLike = None,
        periodic: AttrLike = None,
    ) -> None:
        super().__init__('hann_window', size, dtype=dtype, periodic=periodic)


class HardSigmoid(Call):
    """`max(0, min(1, alpha * x + beta))`.

    `x`: any shape.

    `alpha`, a number: 0.2 if absent.

    `beta`, a number: 0.5 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        alpha: AttrLike = None,
        beta: AttrLike = None,
    ) -> None:
        super().__init__('hard_sigmoid', x, alpha=alpha, beta=beta)


class HardSwish(Call):
    """`x * max(0, min(1, x / 6 + 0.5))`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('hard_swish', x)


class Hardmax(Call):
    """1 at the first greatest element along `axis`, else 0.

    `data`: any shape.

    `axis`, an integer: the dimension; -1 if absent.

    `flatten`, a truth value: all dimensions from `axis` on together, as ONNX before opset 13;
    false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        flatten: AttrLike = None,
    ) -> None:
        super().__init__('hardmax', data, axis=axis, flatten=flatten)


class Identity(Call):
    """`x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('identity', x)


class ImageDecoder(Call):
    """The pixels of an encoded picture.

    `stream`: the bytes of a file, rank 1, `ui8`.

    `pixel_format`, a text: what channels there are; RGB if absent.
    """

    def __init__(
        self,
        stream: PatternLike,
        /,
        *,
        pixel_format: AttrLike = None,
    ) -> None:
        super().__init__('image_decoder', stream, pixel_format=pixel_format)


class InstanceNorm(Call):
    """Each channel of each batch with mean 0 and variance 1, scaled and shifted.

    `x`: batch, channels, then spatial extents.

    `gamma`: channels.

    `beta`: channels.

    `epsilon`, a number: added to the variance before the root; 1e-5 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        gamma: PatternLike,
        beta: PatternLike,
        /,
        *,
        epsilon: AttrLike = None,
    ) -> None:
        super().__init__('instance_norm', x, gamma, beta, epsilon=epsilon)


class IsInf(Call):
    """Whether `x` is infinite.

    `x`: any shape.

    `detect_negative`, a truth value: count minus infinity; true if absent.

    `detect_positive`, a truth value: count plus infinity; true if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        detect_negative: AttrLike = None,
        detect_positive: AttrLike = None,
    ) -> None:
        super().__init__('isinf', x, detect_negative=detect_negative, detect_positive=detect_positive)


class IsNaN(Call):
    """Whether `x` is not a number.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('isnan', x)


class LRN(Call):
    """`x / (bias + alpha / size * s)^beta`, `s` the sum of squares in nearby channels.

    `x`: batch, channels, then spatial extents.

    `size`, an integer, needed in a target: how many channels are summed.

    `alpha`, a number: 1e-4 if absent.

    `beta`, a number: 0.75 if absent.

    `bias`, a number: 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        size: AttrLike = None,
        alpha: AttrLike = None,
        beta: AttrLike = None,
        bias: AttrLike = None,
    ) -> None:
        super().__init__('lrn', x, size=size, alpha=alpha, beta=beta, bias=bias)


class LSTM(Call):
    """A layer of long short-term memory; gates in the order input, output, forget, cell.

    `x`: steps, batch, in (`layout` 1: batch, steps, in).

    `w`: directions, gates * hidden, in: weights of the input.

    `r`: directions, gates * hidden, hidden: weights of the state.

    `b`: directions, 2 * gates * hidden; 0 if absent.

    `sequence_lens`: batch, `i32`; all steps if absent.

    `initial_h`: directions, batch, hidden; 0 if absent.

    `initial_c`: directions, batch, hidden; 0 if absent.

    `p`: directions, 3 * hidden: peepholes; 0 if absent.

    `activations`, texts: functions of the gates; ONNX's defaults if absent.

    `activation_alpha`, numbers: parameters of the functions.

    `activation_beta`, numbers: parameters of the functions.

    `clip`, a number: bound of the gates' inputs; none if absent.

    `direction`, a text: forward if absent.

    `hidden_size`, an integer: extent of the state; that of `r` if absent.

    `input_forget`, a truth value: forget = 1 - input; false if absent.

    `layout`, an integer: 1: batch before steps; 0 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        r: PatternLike,
        b: PatternLike | None = None,
        sequence_lens: PatternLike | None = None,
        initial_h: PatternLike | None = None,
        initial_c: PatternLike | None = None,
        p: PatternLike | None = None,
        /,
        *,
        activations: AttrLike = None,
        activation_alpha: AttrLike = None,
        activation_beta: AttrLike = None,
        clip: AttrLike = None,
        direction: AttrLike = None,
        hidden_size: AttrLike = None,
        input_forget: AttrLike = None,
        layout: AttrLike = None,
    ) -> None:
        super().__init__('lstm', *_present(x, w, r, b, sequence_lens, initial_h, initial_c, p), activations=activations, activation_alpha=activation_alpha, activation_beta=activation_beta, clip=clip, direction=direction, hidden_size=hidden_size, input_forget=input_forget, layout=layout)


class LayerNorm(Call):
    """`x` with mean 0 and variance 1 over the last dimensions, scaled and shifted.

    `x`: any shape.

    `gamma`: broadcasts to the normalised dimensions.

    `beta`: broadcasts to the normalised dimensions; 0 if absent.

    `axis`, an integer: this dimension and all after it are normalised; -1 if absent.

    `epsilon`, a number: added to the variance before the root; 1e-5 if absent.

    `stash_type`, an integer: ONNX's number of the float type to compute in; 1 (`f32`) if
    absent.
    """

    def __init__(
        self,
        x: PatternLike,
        gamma: PatternLike,
        beta: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        epsilon: AttrLike = None,
        stash_type: AttrLike = None,
    ) -> None:
        super().__init__('layer_norm', *_present(x, gamma, beta), axis=axis, epsilon=epsilon, stash_type=stash_type)


class LeakyReLU(Call):
    """`x` where positive, else `alpha * x`.

    `x`: any shape.

    `alpha`, a number: slope for negative `x`; 0.01 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('leaky_relu', x, alpha=alpha)


class LeftShift(Call):
    """`lhs` shifted left by `rhs` bits.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('left_shift', lhs, rhs)


class Less(Call):
    """`lhs < rhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('less', lhs, rhs)


class LessEqual(Call):
    """`lhs <= rhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('less_equal', lhs, rhs)


class LinearAttention(Call):
    """Attention without softmax: a state that each step changes and reads.

    `q`: batch, steps, heads * width.

    `k`: batch, steps, kv heads * width.

    `v`: batch, steps, kv heads * v width.

    `past_state`: batch, kv heads, width, v width; 0 if absent.

    `decay`: batch, steps, kv heads or kv heads * width: logarithms.

    `beta`: batch, steps, kv heads or 1.

    `q_num_heads`, an integer, needed in a target: heads of `q`.

    `kv_num_heads`, an integer, needed in a target: heads of `k` and `v`.

    `update_rule`, a text: which of `decay` and `beta` there are; gated_delta if absent.

    `scale`, a number: 1 / sqrt(width) if absent or 0.

    `chunk_size`, an integer: a hint without meaning.
    """

    def __init__(
        self,
        q: PatternLike,
        k: PatternLike,
        v: PatternLike,
        past_state: PatternLike | None = None,
        decay: PatternLike | None = None,
        beta: PatternLike | None = None,
        /,
        *,
        q_num_heads: AttrLike = None,
        kv_num_heads: AttrLike = None,
        update_rule: AttrLike = None,
        scale: AttrLike = None,
        chunk_size: AttrLike = None,
    ) -> None:
        super().__init__('linear_attention', *_present(q, k, v, past_state, decay, beta), q_num_heads=q_num_heads, kv_num_heads=kv_num_heads, update_rule=update_rule, scale=scale, chunk_size=chunk_size)


class Log(Call):
    """The natural logarithm of `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('log', x)


class LogSoftmax(Call):
    """The logarithm of softmax along `axis`.

    `data`: any shape.

    `axis`, an integer: the dimension; -1 if absent.

    `flatten`, a truth value: all dimensions from `axis` on together, as ONNX before opset 13;
    false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        flatten: AttrLike = None,
    ) -> None:
        super().__init__('log_softmax', data, axis=axis, flatten=flatten)


class LogicalAnd(Call):
    """Both.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('logical_and', lhs, rhs)


class LogicalNot(Call):
    """Not `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('logical_not', x)


class LogicalOr(Call):
    """Either.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('logical_or', lhs, rhs)


class LogicalXor(Call):
    """Exactly one.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('logical_xor', lhs, rhs)


class LpNorm(Call):
    """`x` divided by its p-norm along a dimension.

    `x`: any shape.

    `axis`, an integer: -1 if absent.

    `p`, an integer: 1 or 2; 2 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        p: AttrLike = None,
    ) -> None:
        super().__init__('lp_norm', x, axis=axis, p=p)


class LpPool(Call):
    """The p-norm of each window.

    `x`: batch, channels, then spatial extents.

    `pool_size`, integers, needed in a target: the extents of a window.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `ceil_mode`, a truth value: a last window may reach over the end; false if absent.

    `p`, an integer: the exponent of the norm; 2 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        pool_size: AttrLike = None,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        ceil_mode: AttrLike = None,
        p: AttrLike = None,
    ) -> None:
        super().__init__('lp_pool', x, pool_size=pool_size, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode, p=p)


class Matmul(Call):
    """The product of matrices, as NumPy's `matmul`.

    `a`: batch extents, then rows and columns.

    `b`: batch extents, then rows and columns; all broadcast.
    """

    def __init__(
        self,
        a: PatternLike,
        b: PatternLike,
        /,
    ) -> None:
        super().__init__('matmul', a, b)


class MatmulInteger(Call):
    """The product of quantised matrices, in `i32`.

    `a`: 8-bit integers.

    `b`: 8-bit integers.

    `a_zero_point`: a scalar or one for each row; 0 if absent.

    `b_zero_point`: a scalar or one for each column; 0 if absent.
    """

    def __init__(
        self,
        a: PatternLike,
        b: PatternLike,
        a_zero_point: PatternLike | None = None,
        b_zero_point: PatternLike | None = None,
        /,
    ) -> None:
        super().__init__('matmul_integer', *_present(a, b, a_zero_point, b_zero_point))


class Max(Call):
    """The greatest element over dimensions.

    `data`: any shape.

    `axes`: rank 1, when they are no attribute.

    `axis`, integers: the dimensions to reduce; all if absent or empty.

    `keepdims`, a truth value: reduced dimensions stay with extent 1; true if absent.

    `noop_with_empty_axes`, a truth value: without axes nothing is reduced; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        noop_with_empty_axes: AttrLike = None,
    ) -> None:
        super().__init__('max', *_present(data, axes), axis=axis, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


class MaxN(Call):
    """The greatest of the inputs.

    `inputs`: one or more; shapes that broadcast together.
    """

    def __init__(
        self,
        *inputs: PatternLike,
    ) -> None:
        super().__init__('max_n', *_spread(inputs))


class MaxPool(Call):
    """The greatest element of each window, any rank.

    `x`: batch, channels, then spatial extents.

    `pool_size`, integers, needed in a target: the extents of a window.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `ceil_mode`, a truth value: a last window may reach over the end; false if absent.

    `storage_order`, an integer: 1: `indices` count column-major; 0 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        pool_size: AttrLike = None,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        ceil_mode: AttrLike = None,
        storage_order: AttrLike = None,
    ) -> None:
        super().__init__('max_pool', x, pool_size=pool_size, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode, storage_order=storage_order)


class MaxPool1D(Call):
    """The greatest element of each window.

    `x`: batch, channels, then spatial extents.

    `pool_size`, integers, needed in a target: the extents of a window.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `ceil_mode`, a truth value: a last window may reach over the end; false if absent.

    `storage_order`, an integer: 1: `indices` count column-major; 0 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        pool_size: AttrLike = None,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        ceil_mode: AttrLike = None,
        storage_order: AttrLike = None,
    ) -> None:
        super().__init__('max_pool1d', x, pool_size=pool_size, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode, storage_order=storage_order)


class MaxPool2D(Call):
    """The greatest element of each window.

    `x`: batch, channels, then spatial extents.

    `pool_size`, integers, needed in a target: the extents of a window.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `ceil_mode`, a truth value: a last window may reach over the end; false if absent.

    `storage_order`, an integer: 1: `indices` count column-major; 0 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        pool_size: AttrLike = None,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        ceil_mode: AttrLike = None,
        storage_order: AttrLike = None,
    ) -> None:
        super().__init__('max_pool2d', x, pool_size=pool_size, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode, storage_order=storage_order)


class MaxPool3D(Call):
    """The greatest element of each window.

    `x`: batch, channels, then spatial extents.

    `pool_size`, integers, needed in a target: the extents of a window.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `ceil_mode`, a truth value: a last window may reach over the end; false if absent.

    `storage_order`, an integer: 1: `indices` count column-major; 0 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        pool_size: AttrLike = None,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        ceil_mode: AttrLike = None,
        storage_order: AttrLike = None,
    ) -> None:
        super().__init__('max_pool3d', x, pool_size=pool_size, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode, storage_order=storage_order)


class MaxUnpool(Call):
    """Elements of a pool put back where they were.

    `x`: batch, channels, then spatial extents.

    `indices`: the shape of `x`: places in the flattened result.

    `output_shape`: the shape of the result, rank 1.

    `kernel_shape`, integers, needed in a target: the extents of a window.

    `strides`, integers: steps between windows; 1 if absent.

    `pads`, integers: begins, then ends; 0 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        indices: PatternLike,
        output_shape: PatternLike | None = None,
        /,
        *,
        kernel_shape: AttrLike = None,
        strides: AttrLike = None,
        pads: AttrLike = None,
    ) -> None:
        super().__init__('max_unpool', *_present(x, indices, output_shape), kernel_shape=kernel_shape, strides=strides, pads=pads)


class Maximum(Call):
    """The greater.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('maximum', lhs, rhs)


class Mean(Call):
    """The mean over dimensions.

    `data`: any shape.

    `axes`: rank 1, when they are no attribute.

    `axis`, integers: the dimensions to reduce; all if absent or empty.

    `keepdims`, a truth value: reduced dimensions stay with extent 1; true if absent.

    `noop_with_empty_axes`, a truth value: without axes nothing is reduced; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        noop_with_empty_axes: AttrLike = None,
    ) -> None:
        super().__init__('mean', *_present(data, axes), axis=axis, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


class MeanN(Call):
    """The mean of the inputs.

    `inputs`: one or more; shapes that broadcast together.
    """

    def __init__(
        self,
        *inputs: PatternLike,
    ) -> None:
        super().__init__('mean_n', *_spread(inputs))


class MeanVarianceNorm(Call):
    """`x` with mean 0 and variance 1 over dimensions.

    `x`: any shape.

    `axes`, integers: the dimensions; 0, 2, 3 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        axes: AttrLike = None,
    ) -> None:
        super().__init__('mean_variance_norm', x, axes=axes)


class MelWeightMatrix(Call):
    """The weights that turn a spectrum into mel bands.

    `num_mel_bins`: a scalar.

    `dft_length`: a scalar.

    `sample_rate`: a scalar.

    `lower_edge_hertz`: a scalar.

    `upper_edge_hertz`: a scalar.

    `dtype`, a text: the element type of the result; `f32` if absent.
    """

    def __init__(
        self,
        num_mel_bins: PatternLike,
        dft_length: PatternLike,
        sample_rate: PatternLike,
        lower_edge_hertz: PatternLike,
        upper_edge_hertz: PatternLike,
        /,
        *,
        dtype: AttrLike = None,
    ) -> None:
        super().__init__('mel_weight_matrix', num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype=dtype)


class Min(Call):
    """The least element over dimensions.

    `data`: any shape.

    `axes`: rank 1, when they are no attribute.

    `axis`, integers: the dimensions to reduce; all if absent or empty.

    `keepdims`, a truth value: reduced dimensions stay with extent 1; true if absent.

    `noop_with_empty_axes`, a truth value: without axes nothing is reduced; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        noop_with_empty_axes: AttrLike = None,
    ) -> None:
        super().__init__('min', *_present(data, axes), axis=axis, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


class MinN(Call):
    """The least of the inputs.

    `inputs`: one or more; shapes that broadcast together.
    """

    def __init__(
        self,
        *inputs: PatternLike,
    ) -> None:
        super().__init__('min_n', *_spread(inputs))


class Minimum(Call):
    """The lesser.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('minimum', lhs, rhs)


class Mish(Call):
    """`x * tanh(softplus(x))`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('mish', x)


class Mod(Call):
    """The remainder of `lhs / rhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.

    `fmod`, a truth value: the sign of `lhs` as in C when true, else the sign of `rhs`; false if
    absent.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
        *,
        fmod: AttrLike = None,
    ) -> None:
        super().__init__('mod', lhs, rhs, fmod=fmod)


class Multinomial(Call):
    """Classes drawn with the probabilities whose logarithms `x` states.

    `x`: batch, classes.

    `dtype`, a text: the element type of the result.

    `seed`, a number: of the generator; any if absent.

    `sample_size`, an integer: draws for each batch; 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        dtype: AttrLike = None,
        seed: AttrLike = None,
        sample_size: AttrLike = None,
    ) -> None:
        super().__init__('multinomial', x, dtype=dtype, seed=seed, sample_size=sample_size)


class Multiply(Call):
    """`lhs * rhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('multiply', lhs, rhs)


class NLLLoss(Call):
    """Minus the entry of `x` at each target class, weighted.

    `x`: batch, classes, then any extents: logarithms of probabilities.

    `target`: the shape of `x` without classes, integers.

    `weight`: one for each class; 1 if absent.

    `ignore_index`, an integer: a class that does not count; none if absent.

    `reduction`, a text: mean if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        target: PatternLike,
        weight: PatternLike | None = None,
        /,
        *,
        ignore_index: AttrLike = None,
        reduction: AttrLike = None,
    ) -> None:
        super().__init__('nll_loss', *_present(x, target, weight), ignore_index=ignore_index, reduction=reduction)


class NdarraySize(Call):
    """The number of elements of `data`.

    `data`: any shape.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
    ) -> None:
        super().__init__('ndarray_size', data)


class Negative(Call):
    """`-x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('negative', x)


class NonMaxSuppression(Call):
    """The boxes that overlap no better one too much.

    `boxes`: batch, boxes, 4.

    `scores`: batch, classes, boxes.

    `max_output_boxes_per_class`: a scalar; 0 if absent.

    `iou_threshold`: a scalar; 0 if absent.

    `score_threshold`: a scalar; none if absent.

    `center_point_box`, an integer: 1: centre and extents; 0 (corners) if absent.
    """

    def __init__(
        self,
        boxes: PatternLike,
        scores: PatternLike,
        max_output_boxes_per_class: PatternLike | None = None,
        iou_threshold: PatternLike | None = None,
        score_threshold: PatternLike | None = None,
        /,
        *,
        center_point_box: AttrLike = None,
    ) -> None:
        super().__init__('non_max_suppression', *_present(boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold), center_point_box=center_point_box)


class Nonzero(Call):
    """The index vectors of all elements that are not 0, in row-major order.

    `data`: any shape.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
    ) -> None:
        super().__init__('nonzero', data)


class OneHot(Call):
    """For each index a vector with one element on.

    `indices`: any shape.

    `depth`: one number: the extent of the new dimension.

    `values`: two elements: off, on.

    `axis`, an integer: -1 if absent.
    """

    def __init__(
        self,
        indices: PatternLike,
        depth: PatternLike,
        values: PatternLike,
        /,
        *,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('one_hot', indices, depth, values, axis=axis)


class Optional(Call):
    """An optional value that holds `x`, or nothing.

    `x`: a tensor or a sequence; nothing if absent.

    `type`, any value: of what it might hold, where `x` is absent.
    """

    def __init__(
        self,
        x: PatternLike | None = None,
        /,
        *,
        type: AttrLike = None,
    ) -> None:
        super().__init__('optional', *_present(x), type=type)


class OptionalGetElement(Call):
    """What an optional value holds.

    `x`: an optional value, a tensor or a sequence.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('optional_get_element', x)


class OptionalHasElement(Call):
    """Whether an optional value holds something.

    `x`: an optional value, a tensor or a sequence.
    """

    def __init__(
        self,
        x: PatternLike | None = None,
        /,
    ) -> None:
        super().__init__('optional_has_element', *_present(x))


class PReLU(Call):
    """`lhs` where positive, else `lhs * rhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('prelu', lhs, rhs)


class Pad(Call):
    """`data` with elements added around it.

    `data`: any shape.

    `pads`: begins, then ends, when they are no attribute.

    `value`: the scalar to fill with; 0 if absent.

    `axes_value`: the axes that `pads` speaks of.

    `pad_width`, integers: begins, then ends; negative ones cut.

    `pad_value`, a number: the value to fill with.

    `axes`, integers: the axes that `pad_width` speaks of; all if absent.

    `pad_mode`, a text: what to fill with; `constant` if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        pads: PatternLike | None = None,
        value: PatternLike | None = None,
        axes_value: PatternLike | None = None,
        /,
        *,
        pad_width: AttrLike = None,
        pad_value: AttrLike = None,
        axes: AttrLike = None,
        pad_mode: AttrLike = None,
    ) -> None:
        super().__init__('pad', *_present(data, pads, value, axes_value), pad_width=pad_width, pad_value=pad_value, axes=axes, pad_mode=pad_mode)


class Power(Call):
    """`lhs ^ rhs`, with the element type of `lhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('power', lhs, rhs)


class Prod(Call):
    """The product over dimensions.

    `data`: any shape.

    `axes`: rank 1, when they are no attribute.

    `axis`, integers: the dimensions to reduce; all if absent or empty.

    `keepdims`, a truth value: reduced dimensions stay with extent 1; true if absent.

    `noop_with_empty_axes`, a truth value: without axes nothing is reduced; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        noop_with_empty_axes: AttrLike = None,
    ) -> None:
        super().__init__('prod', *_present(data, axes), axis=axis, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


class QLinearConv(Call):
    """The convolution of quantised tensors, quantised.

    `x`: batch, channels, then spatial extents; 8-bit.

    `x_scale`: a scalar.

    `x_zero_point`: a scalar.

    `w`: filters, channels / groups, then window extents; 8-bit.

    `w_scale`: a scalar or one for each filter.

    `w_zero_point`: the shape of `w_scale`.

    `y_scale`: a scalar.

    `y_zero_point`: a scalar; says the element type of the result.

    `bias`: one for each filter, `i32`, at scale x_scale * w_scale.

    `strides`, integers: steps between windows; 1 if absent.

    `padding`, integers or a text: added before each spatial dimension, then after each;
    `SAME_*`: so much that there are `ceil(extent / stride)` windows; 0 if absent.

    `dilation`, integers: steps between elements of a window; 1 if absent.

    `groups`, an integer: independent parts; 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        x_scale: PatternLike,
        x_zero_point: PatternLike,
        w: PatternLike,
        w_scale: PatternLike,
        w_zero_point: PatternLike,
        y_scale: PatternLike,
        y_zero_point: PatternLike,
        bias: PatternLike | None = None,
        /,
        *,
        strides: AttrLike = None,
        padding: AttrLike = None,
        dilation: AttrLike = None,
        groups: AttrLike = None,
    ) -> None:
        super().__init__('qlinear_conv', *_present(x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias), strides=strides, padding=padding, dilation=dilation, groups=groups)


class QLinearMatmul(Call):
    """The product of quantised matrices, quantised.

    `a`: 8-bit.

    `a_scale`: a scalar or one for each row.

    `a_zero_point`: the shape of `a_scale`.

    `b`: 8-bit.

    `b_scale`: a scalar or one for each column.

    `b_zero_point`: the shape of `b_scale`.

    `y_scale`: a scalar or one for each row.

    `y_zero_point`: the shape of `y_scale`; says the element type of the result.
    """

    def __init__(
        self,
        a: PatternLike,
        a_scale: PatternLike,
        a_zero_point: PatternLike,
        b: PatternLike,
        b_scale: PatternLike,
        b_zero_point: PatternLike,
        y_scale: PatternLike,
        y_zero_point: PatternLike,
        /,
    ) -> None:
        super().__init__('qlinear_matmul', a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point)


class Quantize(Call):
    """`round(x / scale) + zero_point`, ties to even, saturated.

    `x`: any shape.

    `scale`: a scalar, one number for each place along `axis`, or one for each block.

    `zero_point`: the shape of `scale`; 0 if absent.

    `axis`, an integer: 1 if absent.

    `block_size`, an integer: places along `axis` that share a scale; 0 (none) if absent.

    `output_dtype`, a text: the element type of the result; that of an operand if absent.

    `saturate`, a truth value: for eight-bit floats; true if absent.

    `precision`, an integer: ONNX's number of the type to divide in.
    """

    def __init__(
        self,
        x: PatternLike,
        scale: PatternLike,
        zero_point: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        block_size: AttrLike = None,
        output_dtype: AttrLike = None,
        saturate: AttrLike = None,
        precision: AttrLike = None,
    ) -> None:
        super().__init__('quantize', *_present(x, scale, zero_point), axis=axis, block_size=block_size, output_dtype=output_dtype, saturate=saturate, precision=precision)


class RNN(Call):
    """A layer of plain recurrent units.

    `x`: steps, batch, in (`layout` 1: batch, steps, in).

    `w`: directions, gates * hidden, in: weights of the input.

    `r`: directions, gates * hidden, hidden: weights of the state.

    `b`: directions, 2 * gates * hidden; 0 if absent.

    `sequence_lens`: batch, `i32`; all steps if absent.

    `initial_h`: directions, batch, hidden; 0 if absent.

    `activations`, texts: functions of the gates; ONNX's defaults if absent.

    `activation_alpha`, numbers: parameters of the functions.

    `activation_beta`, numbers: parameters of the functions.

    `clip`, a number: bound of the gates' inputs; none if absent.

    `direction`, a text: forward if absent.

    `hidden_size`, an integer: extent of the state; that of `r` if absent.

    `layout`, an integer: 1: batch before steps; 0 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        w: PatternLike,
        r: PatternLike,
        b: PatternLike | None = None,
        sequence_lens: PatternLike | None = None,
        initial_h: PatternLike | None = None,
        /,
        *,
        activations: AttrLike = None,
        activation_alpha: AttrLike = None,
        activation_beta: AttrLike = None,
        clip: AttrLike = None,
        direction: AttrLike = None,
        hidden_size: AttrLike = None,
        layout: AttrLike = None,
    ) -> None:
        super().__init__('rnn', *_present(x, w, r, b, sequence_lens, initial_h), activations=activations, activation_alpha=activation_alpha, activation_beta=activation_beta, clip=clip, direction=direction, hidden_size=hidden_size, layout=layout)


class RandomNormal(Call):
    """Numbers of a normal distribution.

    `shape`, integers, needed in a target: the extents.

    `dtype`, a text: the element type of the result.

    `mean`, a number: 0 if absent.

    `scale`, a number: the standard deviation; 1 if absent.

    `seed`, a number: of the generator; any if absent.
    """

    def __init__(
        self,
        *,
        shape: AttrLike = None,
        dtype: AttrLike = None,
        mean: AttrLike = None,
        scale: AttrLike = None,
        seed: AttrLike = None,
    ) -> None:
        super().__init__('random_normal', shape=shape, dtype=dtype, mean=mean, scale=scale, seed=seed)


class RandomNormalLike(Call):
    """Numbers of a normal distribution, in the shape of `x`.

    `x`: any shape.

    `dtype`, a text: the element type of the result.

    `mean`, a number: 0 if absent.

    `scale`, a number: the standard deviation; 1 if absent.

    `seed`, a number: of the generator; any if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        dtype: AttrLike = None,
        mean: AttrLike = None,
        scale: AttrLike = None,
        seed: AttrLike = None,
    ) -> None:
        super().__init__('random_normal_like', x, dtype=dtype, mean=mean, scale=scale, seed=seed)


class RandomUniform(Call):
    """Numbers between `low` and `high`, each as likely.

    `shape`, integers, needed in a target: the extents.

    `dtype`, a text: the element type of the result.

    `low`, a number: 0 if absent.

    `high`, a number: 1 if absent.

    `seed`, a number: of the generator; any if absent.
    """

    def __init__(
        self,
        *,
        shape: AttrLike = None,
        dtype: AttrLike = None,
        low: AttrLike = None,
        high: AttrLike = None,
        seed: AttrLike = None,
    ) -> None:
        super().__init__('random_uniform', shape=shape, dtype=dtype, low=low, high=high, seed=seed)


class RandomUniformLike(Call):
    """Numbers between `low` and `high`, in the shape of `x`.

    `x`: any shape.

    `dtype`, a text: the element type of the result.

    `low`, a number: 0 if absent.

    `high`, a number: 1 if absent.

    `seed`, a number: of the generator; any if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        dtype: AttrLike = None,
        low: AttrLike = None,
        high: AttrLike = None,
        seed: AttrLike = None,
    ) -> None:
        super().__init__('random_uniform_like', x, dtype=dtype, low=low, high=high, seed=seed)


class ReLU(Call):
    """`max(x, 0)`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('relu', x)


class Reciprocal(Call):
    """`1 / x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('reciprocal', x)


class ReduceL1(Call):
    """The sum of absolute values over dimensions.

    `data`: any shape.

    `axes`: rank 1, when they are no attribute.

    `axis`, integers: the dimensions to reduce; all if absent or empty.

    `keepdims`, a truth value: reduced dimensions stay with extent 1; true if absent.

    `noop_with_empty_axes`, a truth value: without axes nothing is reduced; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        noop_with_empty_axes: AttrLike = None,
    ) -> None:
        super().__init__('reduce_l1', *_present(data, axes), axis=axis, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


class ReduceL2(Call):
    """The square root of the sum of squares over dimensions.

    `data`: any shape.

    `axes`: rank 1, when they are no attribute.

    `axis`, integers: the dimensions to reduce; all if absent or empty.

    `keepdims`, a truth value: reduced dimensions stay with extent 1; true if absent.

    `noop_with_empty_axes`, a truth value: without axes nothing is reduced; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        noop_with_empty_axes: AttrLike = None,
    ) -> None:
        super().__init__('reduce_l2', *_present(data, axes), axis=axis, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


class ReduceLogSum(Call):
    """The logarithm of the sum over dimensions.

    `data`: any shape.

    `axes`: rank 1, when they are no attribute.

    `axis`, integers: the dimensions to reduce; all if absent or empty.

    `keepdims`, a truth value: reduced dimensions stay with extent 1; true if absent.

    `noop_with_empty_axes`, a truth value: without axes nothing is reduced; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        noop_with_empty_axes: AttrLike = None,
    ) -> None:
        super().__init__('reduce_log_sum', *_present(data, axes), axis=axis, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


class ReduceLogSumExp(Call):
    """The logarithm of the sum of exponentials.

    `data`: any shape.

    `axes`: rank 1, when they are no attribute.

    `axis`, integers: the dimensions to reduce; all if absent or empty.

    `keepdims`, a truth value: reduced dimensions stay with extent 1; true if absent.

    `noop_with_empty_axes`, a truth value: without axes nothing is reduced; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        noop_with_empty_axes: AttrLike = None,
    ) -> None:
        super().__init__('reduce_log_sum_exp', *_present(data, axes), axis=axis, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


class ReduceSumSquare(Call):
    """The sum of squares over dimensions.

    `data`: any shape.

    `axes`: rank 1, when they are no attribute.

    `axis`, integers: the dimensions to reduce; all if absent or empty.

    `keepdims`, a truth value: reduced dimensions stay with extent 1; true if absent.

    `noop_with_empty_axes`, a truth value: without axes nothing is reduced; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        noop_with_empty_axes: AttrLike = None,
    ) -> None:
        super().__init__('reduce_sum_square', *_present(data, axes), axis=axis, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


class RegexFullMatch(Call):
    """Whether each text matches a pattern as a whole.

    `x`: texts.

    `pattern`, a text, needed in a target: a regular expression in RE2's syntax.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        pattern: AttrLike = None,
    ) -> None:
        super().__init__('regex_full_match', x, pattern=pattern)


class Reshape(Call):
    """The elements of `data` in row-major order, in a new shape.

    `data`: any shape.

    `shape`: the new extents, when they are no attribute.

    `newshape`, integers: the new extents: 0 keeps the extent of `data` at that place (unless
    `allowzero`), one -1 takes what is left.

    `allowzero`, a truth value: 0 means the extent 0; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        shape: PatternLike | None = None,
        /,
        *,
        newshape: AttrLike = None,
        allowzero: AttrLike = None,
    ) -> None:
        super().__init__('reshape', *_present(data, shape), newshape=newshape, allowzero=allowzero)


class Resize(Call):
    """`x` with other extents, by interpolation.

    `x`: any shape.

    `roi`: starts, then ends, between 0 and 1; for `tf_crop_and_resize`.

    `scales_value`: a factor for each axis, when they are no attribute.

    `sizes_value`: an extent for each axis, when they are no attribute.

    `scales`, numbers: a factor for each axis.

    `sizes`, integers: an extent for each axis.

    `axes`, integers: the axes that `scales`, `sizes`, `roi` speak of; all if absent.

    `mode`, a text: nearest if absent.

    `coordinate_transformation_mode`, a text: half_pixel if absent.

    `nearest_mode`, a text: round_prefer_floor if absent.

    `cubic_coeff_a`, a number: -0.75 if absent.

    `exclude_outside`, a truth value: weights outside are 0; false if absent.

    `extrapolation_value`, a number: for `tf_crop_and_resize`; 0 if absent.

    `antialias`, a truth value: stretch the filter when shrinking; false if absent.

    `keep_aspect_ratio_policy`, a text: how `sizes` are meant; stretch if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        roi: PatternLike | None = None,
        scales_value: PatternLike | None = None,
        sizes_value: PatternLike | None = None,
        /,
        *,
        scales: AttrLike = None,
        sizes: AttrLike = None,
        axes: AttrLike = None,
        mode: AttrLike = None,
        coordinate_transformation_mode: AttrLike = None,
        nearest_mode: AttrLike = None,
        cubic_coeff_a: AttrLike = None,
        exclude_outside: AttrLike = None,
        extrapolation_value: AttrLike = None,
        antialias: AttrLike = None,
        keep_aspect_ratio_policy: AttrLike = None,
    ) -> None:
        super().__init__('resize', *_present(x, roi, scales_value, sizes_value), scales=scales, sizes=sizes, axes=axes, mode=mode, coordinate_transformation_mode=coordinate_transformation_mode, nearest_mode=nearest_mode, cubic_coeff_a=cubic_coeff_a, exclude_outside=exclude_outside, extrapolation_value=extrapolation_value, antialias=antialias, keep_aspect_ratio_policy=keep_aspect_ratio_policy)


class ReverseSequence(Call):
    """The first steps of each batch in reverse order.

    `data`: any shape.

    `lengths`: rank 1: for each batch, how many steps are reversed.

    `batch_axis`, an integer: 1 if absent.

    `time_axis`, an integer: 0 if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        lengths: PatternLike,
        /,
        *,
        batch_axis: AttrLike = None,
        time_axis: AttrLike = None,
    ) -> None:
        super().__init__('reverse_sequence', data, lengths, batch_axis=batch_axis, time_axis=time_axis)


class RightShift(Call):
    """`lhs` shifted right by `rhs` bits.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('right_shift', lhs, rhs)


class RmsNorm(Call):
    """`x` divided by the root of its mean square over the last dimensions, scaled.

    `x`: any shape.

    `scale`: broadcasts to the normalised dimensions.

    `axis`, an integer: this dimension and all after it are normalised; -1 if absent.

    `epsilon`, a number: added to the variance before the root; 1e-5 if absent.

    `stash_type`, an integer: ONNX's number of the float type to compute in; 1 (`f32`) if
    absent.
    """

    def __init__(
        self,
        x: PatternLike,
        scale: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        epsilon: AttrLike = None,
        stash_type: AttrLike = None,
    ) -> None:
        super().__init__('rms_norm', x, scale, axis=axis, epsilon=epsilon, stash_type=stash_type)


class RoiAlign(Call):
    """The mean or maximum of interpolated samples in each cell of each region.

    `x`: batch, channels, then spatial extents.

    `rois`: regions by 4: x1, y1, x2, y2.

    `batch_indices`: the batch of each region.

    `output_height`, an integer: 1 if absent.

    `output_width`, an integer: 1 if absent.

    `sampling_ratio`, an integer: samples for each cell; 0 (adapts) if absent.

    `spatial_scale`, a number: from regions to data; 1 if absent.

    `mode`, a text: avg if absent.

    `coordinate_transformation_mode`, a text: half_pixel if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        rois: PatternLike,
        batch_indices: PatternLike,
        /,
        *,
        output_height: AttrLike = None,
        output_width: AttrLike = None,
        sampling_ratio: AttrLike = None,
        spatial_scale: AttrLike = None,
        mode: AttrLike = None,
        coordinate_transformation_mode: AttrLike = None,
    ) -> None:
        super().__init__('roi_align', x, rois, batch_indices, output_height=output_height, output_width=output_width, sampling_ratio=sampling_ratio, spatial_scale=spatial_scale, mode=mode, coordinate_transformation_mode=coordinate_transformation_mode)


class RoiPool(Call):
    """The greatest element of each cell of each region.

    `x`: batch, channels, then spatial extents.

    `rois`: regions by 5: batch, x1, y1, x2, y2.

    `pooled_shape`, integers, needed in a target: cells: height, width.

    `spatial_scale`, a number: from regions to data; 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        rois: PatternLike,
        /,
        *,
        pooled_shape: AttrLike = None,
        spatial_scale: AttrLike = None,
    ) -> None:
        super().__init__('roi_pool', x, rois, pooled_shape=pooled_shape, spatial_scale=spatial_scale)


class RotaryEmbedding(Call):
    """Pairs of features rotated by an angle that grows with the position.

    `x`: batch, heads, steps, width; or batch, steps, heads * width.

    `cos_cache`: positions by width / 2; or batch, steps, width / 2.

    `sin_cache`: the shape of `cos_cache`.

    `position_ids`: batch, steps.

    `interleaved`, a truth value: pairs are neighbours; false if absent.

    `num_heads`, an integer: needed for an operand of rank 3.

    `rotary_embedding_dim`, an integer: features rotated; 0 (all) if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        cos_cache: PatternLike,
        sin_cache: PatternLike,
        position_ids: PatternLike | None = None,
        /,
        *,
        interleaved: AttrLike = None,
        num_heads: AttrLike = None,
        rotary_embedding_dim: AttrLike = None,
    ) -> None:
        super().__init__('rotary_embedding', *_present(x, cos_cache, sin_cache, position_ids), interleaved=interleaved, num_heads=num_heads, rotary_embedding_dim=rotary_embedding_dim)


class Round(Call):
    """The nearest integer, ties to even.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('round', x)


class SELU(Call):
    """`gamma * x` where positive, else `gamma * alpha * (e^x - 1)`.

    `x`: any shape.

    `alpha`, a number: 1.67326 if absent.

    `gamma`, a number: 1.0507 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        alpha: AttrLike = None,
        gamma: AttrLike = None,
    ) -> None:
        super().__init__('selu', x, alpha=alpha, gamma=gamma)


class STFT(Call):
    """The discrete Fourier transform of overlapping frames.

    `signal`: batch, length, then 1 or nothing (real) or 2 (complex).

    `frame_step`: a scalar: distance of frames.

    `window`: rank 1: weights of a frame.

    `frame_length`: a scalar; that of `window` if absent.

    `onesided`, a truth value: only the first half of the bins and one more.
    """

    def __init__(
        self,
        signal: PatternLike,
        frame_step: PatternLike,
        window: PatternLike | None = None,
        frame_length: PatternLike | None = None,
        /,
        *,
        onesided: AttrLike = None,
    ) -> None:
        super().__init__('stft', *_present(signal, frame_step, window, frame_length), onesided=onesided)


class ScatterElements(Call):
    """`data` with single elements replaced along `axis`.

    `data`: any shape.

    `indices`: the rank of `data`.

    `updates`: the shape of `indices`.

    `axis`, an integer: 0 if absent.

    `reduction`, a text: how updates combine with what is there; `none` (the last one stays) if
    absent.
    """

    def __init__(
        self,
        data: PatternLike,
        indices: PatternLike,
        updates: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        reduction: AttrLike = None,
    ) -> None:
        super().__init__('scatter_elements', data, indices, updates, axis=axis, reduction=reduction)


class ScatterND(Call):
    """`data` with the slices replaced that the index vectors name.

    `data`: any shape.

    `indices`: at least rank 1.

    `updates`: the outer extents of `indices`, then what is left of `data`.

    `reduction`, a text: how updates combine with what is there; `none` (the last one stays) if
    absent.
    """

    def __init__(
        self,
        data: PatternLike,
        indices: PatternLike,
        updates: PatternLike,
        /,
        *,
        reduction: AttrLike = None,
    ) -> None:
        super().__init__('scatter_nd', data, indices, updates, reduction=reduction)


class SequenceAt(Call):
    """The tensor at a position.

    `sequence`: a sequence of tensors.

    `position`: a scalar; negative from the end.
    """

    def __init__(
        self,
        sequence: PatternLike,
        position: PatternLike,
        /,
    ) -> None:
        super().__init__('sequence_at', sequence, position)


class SequenceConstruct(Call):
    """A sequence of the inputs.

    `inputs`: tensors of one element type.
    """

    def __init__(
        self,
        *inputs: PatternLike,
    ) -> None:
        super().__init__('sequence_construct', *_spread(inputs))


class SequenceEmpty(Call):
    """A sequence of no tensors.

    `dtype`, a text: the element type of its tensors; `f32` if absent.
    """

    def __init__(
        self,
        *,
        dtype: AttrLike = None,
    ) -> None:
        super().__init__('sequence_empty', dtype=dtype)


class SequenceErase(Call):
    """The sequence without the tensor at a position.

    `sequence`: a sequence of tensors.

    `position`: a scalar; the last if absent.
    """

    def __init__(
        self,
        sequence: PatternLike,
        position: PatternLike | None = None,
        /,
    ) -> None:
        super().__init__('sequence_erase', *_present(sequence, position))


class SequenceInsert(Call):
    """The sequence with one tensor more.

    `sequence`: a sequence of tensors.

    `tensor`: the tensor to insert.

    `position`: a scalar; the end if absent.
    """

    def __init__(
        self,
        sequence: PatternLike,
        tensor: PatternLike,
        position: PatternLike | None = None,
        /,
    ) -> None:
        super().__init__('sequence_insert', *_present(sequence, tensor, position))


class SequenceLength(Call):
    """The number of tensors.

    `sequence`: a sequence of tensors.
    """

    def __init__(
        self,
        sequence: PatternLike,
        /,
    ) -> None:
        super().__init__('sequence_length', sequence)


class ShapeOf(Call):
    """The extents of `data`.

    `data`: any shape.

    `start`, an integer: first dimension; 0 if absent; may be negative.

    `end`, an integer: end of the dimensions; the rank if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        start: AttrLike = None,
        end: AttrLike = None,
    ) -> None:
        super().__init__('shape_of', data, start=start, end=end)


class Shrink(Call):
    """`x + bias` below `-lambd`, `x - bias` above `lambd`, else 0.

    `x`: any shape.

    `bias`, a number: 0 if absent.

    `lambd`, a number: 0.5 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        bias: AttrLike = None,
        lambd: AttrLike = None,
    ) -> None:
        super().__init__('shrink', x, bias=bias, lambd=lambd)


class Sigmoid(Call):
    """`1 / (1 + e^-x)`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('sigmoid', x)


class Sign(Call):
    """-1, 0 or 1.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('sign', x)


class Sin(Call):
    """The sine of `x` in radians.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('sin', x)


class Sinh(Call):
    """The hyperbolic sine of `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('sinh', x)


class Softmax(Call):
    """Exponentials divided by their sum along `axis`.

    `data`: any shape.

    `axis`, an integer: the dimension; -1 if absent.

    `flatten`, a truth value: all dimensions from `axis` on together, as ONNX before opset 13;
    false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        flatten: AttrLike = None,
    ) -> None:
        super().__init__('softmax', data, axis=axis, flatten=flatten)


class SoftmaxCrossEntropyLoss(Call):
    """`nn.nll_loss` of the logarithm of the softmax of `scores`.

    `scores`: batch, classes, then any extents.

    `labels`: the shape of `scores` without classes, integers.

    `weights`: one for each class; 1 if absent.

    `ignore_index`, an integer: a class that does not count; none if absent.

    `reduction`, a text: mean if absent.
    """

    def __init__(
        self,
        scores: PatternLike,
        labels: PatternLike,
        weights: PatternLike | None = None,
        /,
        *,
        ignore_index: AttrLike = None,
        reduction: AttrLike = None,
    ) -> None:
        super().__init__('softmax_cross_entropy_loss', *_present(scores, labels, weights), ignore_index=ignore_index, reduction=reduction)


class Softplus(Call):
    """`log(1 + e^x)`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('softplus', x)


class Softsign(Call):
    """`x / (1 + |x|)`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('softsign', x)


class SpaceToDepth(Call):
    """Blocks of pixels rearranged into channels.

    `data`: rank 4: batch, channels, height, width.

    `block_size`, an integer, needed in a target: the side of a block.

    `mode`, a text: order of channels; DCR if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        block_size: AttrLike = None,
        mode: AttrLike = None,
    ) -> None:
        super().__init__('space_to_depth', data, block_size=block_size, mode=mode)


class Split(Call):
    """`data` cut into parts along a dimension.

    `data`: any shape.

    `split`: the extent of each part, when they are no attribute.

    `indices_or_sections`, any value: an integer: that many equal parts, the last one smaller if
    need be; or a list: where part 1, 2... start.

    `axis`, an integer, needed in a target: the dimension along which to cut.
    """

    def __init__(
        self,
        data: PatternLike,
        split: PatternLike | None = None,
        /,
        *,
        indices_or_sections: AttrLike = None,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('split', *_present(data, split), indices_or_sections=indices_or_sections, axis=axis)


class SplitToSequence(Call):
    """A tensor cut along a dimension into a sequence.

    `x`: any shape.

    `split`: the extent of all parts, or of each; 1 if absent.

    `axis`, an integer: 0 if absent.

    `keepdims`, a truth value: parts of extent 1 keep the dimension; true if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        split: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
    ) -> None:
        super().__init__('split_to_sequence', *_present(x, split), axis=axis, keepdims=keepdims)


class Sqrt(Call):
    """The square root of `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('sqrt', x)


class Squeeze(Call):
    """`data` without some dimensions of extent 1.

    `data`: any shape.

    `axes`: dimensions to drop, when they are no attribute.

    `axis`, integers: dimensions of extent 1 to drop; every such dimension if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('squeeze', *_present(data, axes), axis=axis)


class StridedSlice(Call):
    """Every `strides`-th element from `begin` to `end`.

    `data`: any shape.

    `begin_value`: first index for each listed axis.

    `end_value`: end index for each listed axis.

    `axes_value`: the axes; the first ones in order if absent.

    `strides_value`: 1 if absent.

    `begin`, integers: first index, clamped; negative from the end.

    `end`, integers: end index, clamped; negative from the end.

    `axes`, integers: the axes that `begin` and `end` speak of.

    `strides`, integers: steps, not 0; negative ones go backwards.
    """

    def __init__(
        self,
        data: PatternLike,
        begin_value: PatternLike | None = None,
        end_value: PatternLike | None = None,
        axes_value: PatternLike | None = None,
        strides_value: PatternLike | None = None,
        /,
        *,
        begin: AttrLike = None,
        end: AttrLike = None,
        axes: AttrLike = None,
        strides: AttrLike = None,
    ) -> None:
        super().__init__('strided_slice', *_present(data, begin_value, end_value, axes_value, strides_value), begin=begin, end=end, axes=axes, strides=strides)


class StringConcat(Call):
    """The texts of `x` and `y` one after the other.

    `x`: texts.

    `y`: a shape that broadcasts with `x`.
    """

    def __init__(
        self,
        x: PatternLike,
        y: PatternLike,
        /,
    ) -> None:
        super().__init__('string_concat', x, y)


class StringNormalizer(Call):
    """Texts in one case, some left out.

    `x`: rank 1, or 1 by any extent.

    `case_change_action`, a text: NONE if absent.

    `is_case_sensitive`, a truth value: of the comparison; false if absent.

    `locale`, a text: the system's if absent.

    `stopwords`, texts: texts to leave out; none if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        case_change_action: AttrLike = None,
        is_case_sensitive: AttrLike = None,
        locale: AttrLike = None,
        stopwords: AttrLike = None,
    ) -> None:
        super().__init__('string_normalizer', x, case_change_action=case_change_action, is_case_sensitive=is_case_sensitive, locale=locale, stopwords=stopwords)


class StringSplit(Call):
    """Each text cut at a delimiter.

    `x`: texts.

    `delimiter`, a text: runs of white space if absent or empty.

    `maxsplit`, an integer: the most cuts; unbounded if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        delimiter: AttrLike = None,
        maxsplit: AttrLike = None,
    ) -> None:
        super().__init__('string_split', x, delimiter=delimiter, maxsplit=maxsplit)


class Subtract(Call):
    """`lhs - rhs`.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
    ) -> None:
        super().__init__('subtract', lhs, rhs)


class Sum(Call):
    """The sum over dimensions.

    `data`: any shape.

    `axes`: rank 1, when they are no attribute.

    `axis`, integers: the dimensions to reduce; all if absent or empty.

    `keepdims`, a truth value: reduced dimensions stay with extent 1; true if absent.

    `noop_with_empty_axes`, a truth value: without axes nothing is reduced; false if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        axes: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        keepdims: AttrLike = None,
        noop_with_empty_axes: AttrLike = None,
    ) -> None:
        super().__init__('sum', *_present(data, axes), axis=axis, keepdims=keepdims, noop_with_empty_axes=noop_with_empty_axes)


class Swiglu(Call):
    """`lhs * sigmoid(alpha * lhs) * rhs`; the operands have one shape.

    `lhs`: any shape.

    `rhs`: a shape that broadcasts with `lhs`.

    `alpha`, a number: 1 if absent.
    """

    def __init__(
        self,
        lhs: PatternLike,
        rhs: PatternLike,
        /,
        *,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('swiglu', lhs, rhs, alpha=alpha)


class Swish(Call):
    """`x * sigmoid(alpha * x)`.

    `x`: any shape.

    `alpha`, a number: 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('swish', x, alpha=alpha)


class Take(Call):
    """The slices of `data` along `axis` that `indices` name.

    `data`: any shape.

    `indices`: integers; negative from the end.

    `axis`, an integer: 0 if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        indices: PatternLike,
        /,
        *,
        axis: AttrLike = None,
    ) -> None:
        super().__init__('take', data, indices, axis=axis)


class Tan(Call):
    """The tangent of `x` in radians.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('tan', x)


class Tanh(Call):
    """The hyperbolic tangent of `x`.

    `x`: any shape.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
    ) -> None:
        super().__init__('tanh', x)


class TensorScatter(Call):
    """A cache with a run of positions replaced, from the write index of each batch on.

    `data`: the cache.

    `updates`: the shape of `data` but along `axis`.

    `write_indices`: rank 1, one for each batch; 0 if absent.

    `axis`, an integer: -2 if absent.

    `mode`, a text: `linear` if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        updates: PatternLike,
        write_indices: PatternLike | None = None,
        /,
        *,
        axis: AttrLike = None,
        mode: AttrLike = None,
    ) -> None:
        super().__init__('tensor_scatter', *_present(data, updates, write_indices), axis=axis, mode=mode)


class TfIdfVectorizer(Call):
    """How often, or with what weight, each n-gram of a pool is there.

    `x`: rank 1; or rows; texts or integers.

    `mode`, a text, needed in a target: counts, weights, or both.

    `min_gram_length`, an integer, needed in a target: the least length of an n-gram.

    `max_gram_length`, an integer, needed in a target: the greatest length of an n-gram.

    `max_skip_count`, an integer, needed in a target: how many elements may be skipped.

    `ngram_counts`, integers, needed in a target: where the n-grams of each length start.

    `ngram_indexes`, integers, needed in a target: the place of each n-gram in the result.

    `weights`, numbers: of each n-gram; 1 if absent.

    `pool_int64s`, integers: the n-grams, if they are of integers.

    `pool_strings`, texts: the n-grams, if they are of texts.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        mode: AttrLike = None,
        min_gram_length: AttrLike = None,
        max_gram_length: AttrLike = None,
        max_skip_count: AttrLike = None,
        ngram_counts: AttrLike = None,
        ngram_indexes: AttrLike = None,
        weights: AttrLike = None,
        pool_int64s: AttrLike = None,
        pool_strings: AttrLike = None,
    ) -> None:
        super().__init__('tf_idf_vectorizer', x, mode=mode, min_gram_length=min_gram_length, max_gram_length=max_gram_length, max_skip_count=max_skip_count, ngram_counts=ngram_counts, ngram_indexes=ngram_indexes, weights=weights, pool_int64s=pool_int64s, pool_strings=pool_strings)


class ThresholdedReLU(Call):
    """`x` where greater than `alpha`, else 0.

    `x`: any shape.

    `alpha`, a number: 1 if absent.
    """

    def __init__(
        self,
        x: PatternLike,
        /,
        *,
        alpha: AttrLike = None,
    ) -> None:
        super().__init__('thresholded_relu', x, alpha=alpha)


class Tile(Call):
    """Copies of `data` side by side.

    `data`: any shape.

    `repeats`: for each dimension, when they are no attribute.

    `reps`, integers: repeats for each dimension.
    """

    def __init__(
        self,
        data: PatternLike,
        repeats: PatternLike | None = None,
        /,
        *,
        reps: AttrLike = None,
    ) -> None:
        super().__init__('tile', *_present(data, repeats), reps=reps)


class TopK(Call):
    """The `k` greatest or least elements along `axis`, and where they were.

    `data`: any shape.

    `k_value`: one integer, when it is no attribute.

    `k`, an integer: how many.

    `axis`, an integer: -1 if absent.

    `largest`, a truth value: true if absent.

    `sorted`, a truth value: true if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        k_value: PatternLike | None = None,
        /,
        *,
        k: AttrLike = None,
        axis: AttrLike = None,
        largest: AttrLike = None,
        sorted: AttrLike = None,
    ) -> None:
        super().__init__('topk', *_present(data, k_value), k=k, axis=axis, largest=largest, sorted=sorted)


class Transpose(Call):
    """`data` with its dimensions in another order.

    `data`: any shape.

    `axes`, integers: a permutation; reversal if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        axes: AttrLike = None,
    ) -> None:
        super().__init__('transpose', data, axes=axes)


class Trilu(Call):
    """A triangle of each matrix of `data`, zeros elsewhere.

    `data`: any shape.

    `k_value`: the diagonal, a scalar.

    `k`, an integer: the diagonal that bounds the triangle; 0 if absent.

    `upper`, a truth value: keep the upper triangle; true if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        k_value: PatternLike | None = None,
        /,
        *,
        k: AttrLike = None,
        upper: AttrLike = None,
    ) -> None:
        super().__init__('trilu', *_present(data, k_value), k=k, upper=upper)


class Unique(Call):
    """The different elements, or slices along `axis`, of `data`.

    `data`: any shape.

    `axis`, an integer: the flattened tensor if absent.

    `sorted`, a truth value: true if absent.
    """

    def __init__(
        self,
        data: PatternLike,
        /,
        *,
        axis: AttrLike = None,
        sorted: AttrLike = None,
    ) -> None:
        super().__init__('unique', data, axis=axis, sorted=sorted)


class Where(Call):
    """`x` where `condition`, else `y`.

    `condition`: booleans.

    `x`: taken where true.

    `y`: taken where false.
    """

    def __init__(
        self,
        condition: PatternLike,
        x: PatternLike,
        y: PatternLike,
        /,
    ) -> None:
        super().__init__('where', condition, x, y)


class Yield(Call):
    """Ends a region with its results.

    `values`: the results.
    """

    def __init__(
        self,
        *values: PatternLike,
    ) -> None:
        super().__init__('yield', *_spread(values))


def _spread(operands: tuple[PatternLike, ...]) -> tuple[PatternLike, ...]:
    """A list as the only operand stands for its members."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return tuple(operands[0])
    return operands


def _present(*operands: PatternLike | None) -> list[PatternLike]:
    """The operands up to the first that is left out."""
    given = [operand for operand in operands if operand is not None]
    if any(operand is None for operand in operands[: len(given)]):
        raise TypeError("an operand is left out before one that is given")
    return given
