// Named operations, each once.
func.func @conv_1d(%a0: tensor<1xf32>, %a1: tensor<1xf32>, %o: tensor<1xf32>) -> tensor<1xf32> {
  %r = linalg.conv_1d ins(%a0, %a1 : tensor<1xf32>, tensor<1xf32>) outs(%o : tensor<1xf32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}
func.func @conv_2d(%a0: tensor<1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.conv_2d ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @conv_3d(%a0: tensor<1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.conv_3d ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @conv_1d_ncw_fcw(%a0: tensor<1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.conv_1d_ncw_fcw ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @conv_1d_nwc_wcf(%a0: tensor<1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.conv_1d_nwc_wcf ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @conv_2d_nchw_fchw(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1x1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.conv_2d_nchw_fchw ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @conv_2d_nchw_fchw_q(%a0: tensor<1x1x1x1xi8>, %a1: tensor<1x1x1x1xi8>, %a2: i32, %a3: i32, %o: tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32> {
  %r = linalg.conv_2d_nchw_fchw_q ins(%a0, %a1, %a2, %a3 : tensor<1x1x1x1xi8>, tensor<1x1x1x1xi8>, i32, i32) outs(%o : tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32>
  return %r : tensor<1x1x1x1xi32>
}
func.func @conv_2d_nhwc_fhwc(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1x1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.conv_2d_nhwc_fhwc ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @conv_2d_nhwc_fhwc_q(%a0: tensor<1x1x1x1xi8>, %a1: tensor<1x1x1x1xi8>, %a2: i32, %a3: i32, %o: tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32> {
  %r = linalg.conv_2d_nhwc_fhwc_q ins(%a0, %a1, %a2, %a3 : tensor<1x1x1x1xi8>, tensor<1x1x1x1xi8>, i32, i32) outs(%o : tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32>
  return %r : tensor<1x1x1x1xi32>
}
func.func @conv_2d_nhwc_hwcf(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1x1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @conv_2d_nhwc_hwcf_q(%a0: tensor<1x1x1x1xi8>, %a1: tensor<1x1x1x1xi8>, %a2: i32, %a3: i32, %o: tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32> {
  %r = linalg.conv_2d_nhwc_hwcf_q ins(%a0, %a1, %a2, %a3 : tensor<1x1x1x1xi8>, tensor<1x1x1x1xi8>, i32, i32) outs(%o : tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32>
  return %r : tensor<1x1x1x1xi32>
}
func.func @conv_2d_ngchw_fgchw(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.conv_2d_ngchw_fgchw ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @conv_2d_ngchw_gfchw(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.conv_2d_ngchw_gfchw ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @conv_2d_ngchw_gfchw_q(%a0: tensor<1x1x1x1x1xi8>, %a1: tensor<1x1x1x1x1xi8>, %a2: i32, %a3: i32, %o: tensor<1x1x1x1x1xi32>) -> tensor<1x1x1x1x1xi32> {
  %r = linalg.conv_2d_ngchw_gfchw_q ins(%a0, %a1, %a2, %a3 : tensor<1x1x1x1x1xi8>, tensor<1x1x1x1x1xi8>, i32, i32) outs(%o : tensor<1x1x1x1x1xi32>) -> tensor<1x1x1x1x1xi32>
  return %r : tensor<1x1x1x1x1xi32>
}
func.func @conv_2d_nhwgc_gfhwc(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.conv_2d_nhwgc_gfhwc ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @conv_2d_nhwgc_gfhwc_q(%a0: tensor<1x1x1x1x1xi8>, %a1: tensor<1x1x1x1x1xi8>, %a2: i32, %a3: i32, %o: tensor<1x1x1x1x1xi32>) -> tensor<1x1x1x1x1xi32> {
  %r = linalg.conv_2d_nhwgc_gfhwc_q ins(%a0, %a1, %a2, %a3 : tensor<1x1x1x1x1xi8>, tensor<1x1x1x1x1xi8>, i32, i32) outs(%o : tensor<1x1x1x1x1xi32>) -> tensor<1x1x1x1x1xi32>
  return %r : tensor<1x1x1x1x1xi32>
}
func.func @conv_3d_ncdhw_fcdhw(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.conv_3d_ncdhw_fcdhw ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @conv_3d_ndhwc_dhwcf(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.conv_3d_ndhwc_dhwcf ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @conv_3d_ndhwc_dhwcf_q(%a0: tensor<1x1x1x1x1xi8>, %a1: tensor<1x1x1x1x1xi8>, %a2: i32, %a3: i32, %o: tensor<1x1x1x1x1xi32>) -> tensor<1x1x1x1x1xi32> {
  %r = linalg.conv_3d_ndhwc_dhwcf_q ins(%a0, %a1, %a2, %a3 : tensor<1x1x1x1x1xi8>, tensor<1x1x1x1x1xi8>, i32, i32) outs(%o : tensor<1x1x1x1x1xi32>) -> tensor<1x1x1x1x1xi32>
  return %r : tensor<1x1x1x1x1xi32>
}
func.func @depthwise_conv_1d_ncw_cw(%a0: tensor<1x1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.depthwise_conv_1d_ncw_cw ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @depthwise_conv_1d_nwc_wc(%a0: tensor<1x1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.depthwise_conv_1d_nwc_wc ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @depthwise_conv_1d_nwc_wcm(%a0: tensor<1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.depthwise_conv_1d_nwc_wcm ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @depthwise_conv_2d_nchw_chw(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.depthwise_conv_2d_nchw_chw ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @depthwise_conv_2d_nhwc_hwc(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @depthwise_conv_2d_nhwc_hwc_q(%a0: tensor<1x1x1x1xi8>, %a1: tensor<1x1x1xi8>, %a2: i32, %a3: i32, %o: tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwc_q ins(%a0, %a1, %a2, %a3 : tensor<1x1x1x1xi8>, tensor<1x1x1xi8>, i32, i32) outs(%o : tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32>
  return %r : tensor<1x1x1x1xi32>
}
func.func @depthwise_conv_2d_nhwc_hwcm(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwcm ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @depthwise_conv_2d_nhwc_hwcm_q(%a0: tensor<1x1x1x1xi8>, %a1: tensor<1x1x1x1xi8>, %a2: i32, %a3: i32, %o: tensor<1x1x1x1x1xi32>) -> tensor<1x1x1x1x1xi32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwcm_q ins(%a0, %a1, %a2, %a3 : tensor<1x1x1x1xi8>, tensor<1x1x1x1xi8>, i32, i32) outs(%o : tensor<1x1x1x1x1xi32>) -> tensor<1x1x1x1x1xi32>
  return %r : tensor<1x1x1x1x1xi32>
}
func.func @depthwise_conv_3d_ncdhw_cdhw(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.depthwise_conv_3d_ncdhw_cdhw ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @depthwise_conv_3d_ndhwc_dhwc(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.depthwise_conv_3d_ndhwc_dhwc ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @depthwise_conv_3d_ndhwc_dhwcm(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1x1x1xf32>, %o: tensor<1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1xf32> {
  %r = linalg.depthwise_conv_3d_ndhwc_dhwcm ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1x1x1xf32>) outs(%o : tensor<1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1x1xf32>
}
func.func @pooling_nchw_max(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.pooling_nchw_max ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @pooling_nchw_sum(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.pooling_nchw_sum ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @pooling_nhwc_max(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.pooling_nhwc_max ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @pooling_nhwc_max_unsigned(%a0: tensor<1x1x1x1xi32>, %a1: tensor<1x1xi32>, %o: tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32> {
  %r = linalg.pooling_nhwc_max_unsigned ins(%a0, %a1 : tensor<1x1x1x1xi32>, tensor<1x1xi32>) outs(%o : tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32>
  return %r : tensor<1x1x1x1xi32>
}
func.func @pooling_nhwc_min(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.pooling_nhwc_min ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @pooling_nhwc_min_unsigned(%a0: tensor<1x1x1x1xi32>, %a1: tensor<1x1xi32>, %o: tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32> {
  %r = linalg.pooling_nhwc_min_unsigned ins(%a0, %a1 : tensor<1x1x1x1xi32>, tensor<1x1xi32>) outs(%o : tensor<1x1x1x1xi32>) -> tensor<1x1x1x1xi32>
  return %r : tensor<1x1x1x1xi32>
}
func.func @pooling_nhwc_sum(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.pooling_nhwc_sum ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @pooling_ncw_max(%a0: tensor<1x1x1xf32>, %a1: tensor<1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.pooling_ncw_max ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @pooling_ncw_sum(%a0: tensor<1x1x1xf32>, %a1: tensor<1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.pooling_ncw_sum ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @pooling_nwc_max(%a0: tensor<1x1x1xf32>, %a1: tensor<1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.pooling_nwc_max ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @pooling_nwc_max_unsigned(%a0: tensor<1x1x1xi32>, %a1: tensor<1xi32>, %o: tensor<1x1x1xi32>) -> tensor<1x1x1xi32> {
  %r = linalg.pooling_nwc_max_unsigned ins(%a0, %a1 : tensor<1x1x1xi32>, tensor<1xi32>) outs(%o : tensor<1x1x1xi32>) -> tensor<1x1x1xi32>
  return %r : tensor<1x1x1xi32>
}
func.func @pooling_nwc_min(%a0: tensor<1x1x1xf32>, %a1: tensor<1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.pooling_nwc_min ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @pooling_nwc_min_unsigned(%a0: tensor<1x1x1xi32>, %a1: tensor<1xi32>, %o: tensor<1x1x1xi32>) -> tensor<1x1x1xi32> {
  %r = linalg.pooling_nwc_min_unsigned ins(%a0, %a1 : tensor<1x1x1xi32>, tensor<1xi32>) outs(%o : tensor<1x1x1xi32>) -> tensor<1x1x1xi32>
  return %r : tensor<1x1x1xi32>
}
func.func @pooling_nwc_sum(%a0: tensor<1x1x1xf32>, %a1: tensor<1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.pooling_nwc_sum ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @pooling_ndhwc_max(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.pooling_ndhwc_max ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @pooling_ndhwc_min(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.pooling_ndhwc_min ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @pooling_ndhwc_sum(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.pooling_ndhwc_sum ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @matmul(%a0: tensor<1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.matmul ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @batch_matmul(%a0: tensor<1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
  %r = linalg.batch_matmul ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  return %r : tensor<1x1x1xf32>
}
func.func @batch_reduce_matmul(%a0: tensor<1x1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.batch_reduce_matmul ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @matvec(%a0: tensor<1x1xf32>, %a1: tensor<1xf32>, %o: tensor<1xf32>) -> tensor<1xf32> {
  %r = linalg.matvec ins(%a0, %a1 : tensor<1x1xf32>, tensor<1xf32>) outs(%o : tensor<1xf32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}
func.func @vecmat(%a0: tensor<1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1xf32>) -> tensor<1xf32> {
  %r = linalg.vecmat ins(%a0, %a1 : tensor<1xf32>, tensor<1x1xf32>) outs(%o : tensor<1xf32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}
func.func @batch_matvec(%a0: tensor<1x1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.batch_matvec ins(%a0, %a1 : tensor<1x1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @batch_vecmat(%a0: tensor<1x1xf32>, %a1: tensor<1x1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.batch_vecmat ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @dot(%a0: tensor<1xf32>, %a1: tensor<1xf32>, %o: tensor<f32>) -> tensor<f32> {
  %r = linalg.dot ins(%a0, %a1 : tensor<1xf32>, tensor<1xf32>) outs(%o : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func @mmt4d(%a0: tensor<1x1x1x1xf32>, %a1: tensor<1x1x1x1xf32>, %o: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %r = linalg.mmt4d ins(%a0, %a1 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) outs(%o : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %r : tensor<1x1x1x1xf32>
}
func.func @batch_mmt4d(%a0: tensor<1x1x1x1x1xf32>, %a1: tensor<1x1x1x1x1xf32>, %o: tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32> {
  %r = linalg.batch_mmt4d ins(%a0, %a1 : tensor<1x1x1x1x1xf32>, tensor<1x1x1x1x1xf32>) outs(%o : tensor<1x1x1x1x1xf32>) -> tensor<1x1x1x1x1xf32>
  return %r : tensor<1x1x1x1x1xf32>
}
func.func @quantized_matmul(%a0: tensor<1x1xi8>, %a1: tensor<1x1xi8>, %a2: i32, %a3: i32, %o: tensor<1x1xi32>) -> tensor<1x1xi32> {
  %r = linalg.quantized_matmul ins(%a0, %a1, %a2, %a3 : tensor<1x1xi8>, tensor<1x1xi8>, i32, i32) outs(%o : tensor<1x1xi32>) -> tensor<1x1xi32>
  return %r : tensor<1x1xi32>
}
func.func @quantized_batch_matmul(%a0: tensor<1x1x1xi8>, %a1: tensor<1x1x1xi8>, %a2: i32, %a3: i32, %o: tensor<1x1x1xi32>) -> tensor<1x1x1xi32> {
  %r = linalg.quantized_batch_matmul ins(%a0, %a1, %a2, %a3 : tensor<1x1x1xi8>, tensor<1x1x1xi8>, i32, i32) outs(%o : tensor<1x1x1xi32>) -> tensor<1x1x1xi32>
  return %r : tensor<1x1x1xi32>
}
func.func @add(%a0: tensor<1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.add ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @sub(%a0: tensor<1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.sub ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @mul(%a0: tensor<1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.mul ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @div(%a0: tensor<1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.div ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @max(%a0: tensor<1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.max ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @min(%a0: tensor<1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.min ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @powf(%a0: tensor<1x1xf32>, %a1: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.powf ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @div_unsigned(%a0: tensor<1x1xi32>, %a1: tensor<1x1xi32>, %o: tensor<1x1xi32>) -> tensor<1x1xi32> {
  %r = linalg.div_unsigned ins(%a0, %a1 : tensor<1x1xi32>, tensor<1x1xi32>) outs(%o : tensor<1x1xi32>) -> tensor<1x1xi32>
  return %r : tensor<1x1xi32>
}
func.func @abs(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.abs ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @ceil(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.ceil ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @erf(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.erf ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @exp(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.exp ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @floor(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.floor ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @log(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.log ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @negf(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.negf ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @reciprocal(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.reciprocal ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @round(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.round ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @rsqrt(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.rsqrt ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @sqrt(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.sqrt ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @square(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.square ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @tanh(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.tanh ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @copy(%a0: tensor<1x1xf32>, %o: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %r = linalg.copy ins(%a0 : tensor<1x1xf32>) outs(%o : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
func.func @fill(%s: f32, %o: memref<2x3xf32>, %x: memref<1x7x7x2xf32>, %k: memref<3x3x2x4xf32>, %y: memref<1x3x3x4xf32>) {
  linalg.fill ins(%s : f32) outs(%o : memref<2x3xf32>)
  linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %k : memref<1x7x7x2xf32>, memref<3x3x2x4xf32>) outs(%y : memref<1x3x3x4xf32>)
  return
}
func.func @select(%c: tensor<2xi1>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %r = linalg.select ins(%c, %a, %b : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) outs(%a : tensor<2xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
