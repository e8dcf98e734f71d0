module attributes {gpu.container_module} {
  func.func @launch(%n: index, %bytes: i32, %data: memref<?xf32>) {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
      %v = memref.load %data[%tx] : memref<?xf32>
      memref.store %v, %data[%bx] : memref<?xf32>
      gpu.terminator
    }
    %t = gpu.wait async
    %u = gpu.launch async [%t] clusters(%cx, %cy, %cz) in (%kx = %n, %ky = %n, %kz = %n) blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) dynamic_shared_memory_size %bytes module(@m) function(@k) workgroup(%w : memref<32xf32, #gpu.address_space<workgroup>>) private(%p : memref<2xf32, #gpu.address_space<private>>, %q : memref<1xi32, 5>) {
      %v = memref.load %w[%kx] : memref<32xf32, #gpu.address_space<workgroup>>
      memref.store %v, %p[%cx] : memref<2xf32, #gpu.address_space<private>>
      gpu.terminator
    } {u.note}
    gpu.wait [%u]
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
      cf.br ^bb1
    ^bb1:
      gpu.terminator
    }
    return
  }
  func.func @kernels(%n: index, %w: i64, %bytes: i32, %x: f32, %data: memref<?xf32>, %queue: !llvm.ptr) {
    %t = gpu.wait async
    gpu.launch_func @device::@main blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%x : f32, %data : memref<?xf32>)
    gpu.launch_func @device::@main clusters in (%n, %n, %n) blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %bytes args(%x : f32, %data : memref<?xf32>)
    gpu.launch_func @device::@empty blocks in (%w, %w, %w) threads in (%w, %w, %w) : i64
    %u = gpu.launch_func async [%t] <%queue : !llvm.ptr> @device::@empty blocks in (%bytes, %bytes, %bytes) threads in (%bytes, %bytes, %bytes) : i32 {u.note}
    gpu.wait [%t, %u] {u.note}
    return
  }
  func.func @memory(%n: index, %x: f32, %i: i32, %host: memref<8x?xf32>, %any: memref<*xf32>) {
    %a = gpu.alloc (%n) : memref<8x?xf32>
    %b = gpu.alloc host_shared (%n) : memref<8x?xf32>
    %t = gpu.wait async
    %c, %u = gpu.alloc async [%t] (%n)[%n, %n] : memref<8x?xf32, affine_map<(d0, d1)[s0, s1] -> (d0 * s0 + d1 + s1)>>
    gpu.memcpy %a, %host : memref<8x?xf32>, memref<8x?xf32>
    %v = gpu.memcpy async [%u] %host, %b : memref<8x?xf32>, memref<8x?xf32>
    gpu.memset %a, %x : memref<8x?xf32>, f32
    %w = gpu.memset async [%v, %t] %b, %x : memref<8x?xf32>, f32 {u.note}
    gpu.dealloc %a : memref<8x?xf32>
    %y = gpu.dealloc async %b : memref<8x?xf32>
    gpu.host_register %any : memref<*xf32>
    gpu.host_unregister %any : memref<*xf32>
    gpu.set_default_device %i
    gpu.wait
    return
  }
  gpu.module @device {
    gpu.func @main(%x: f32, %data: memref<?xf32>) workgroup(%w : memref<32xf32, 3> {u.aligned = 16 : i64}) private(%p : memref<1xf32, 5>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, u.note} {
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y upper_bound 64
      %bx = gpu.block_id z
      %bd = gpu.block_dim x
      %gd = gpu.grid_dim y
      %gi = gpu.global_id x
      %ci = gpu.cluster_id x
      %cd = gpu.cluster_dim y
      %cb = gpu.cluster_block_id z
      %cs = gpu.cluster_dim_blocks x
      %lane = gpu.lane_id
      %lane2 = gpu.lane_id upper_bound 32
      %si = gpu.subgroup_id : index
      %ns = gpu.num_subgroups upper_bound 8 : index
      %ss = gpu.subgroup_size : index
      %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %s = gpu.all_reduce add %x uniform {
      } : (f32) -> f32
      %m = gpu.all_reduce maximumf %x {
      } {u.note} : (f32) -> f32
      %r = gpu.all_reduce %x {
      ^bb0(%a: f32, %b: f32):
        %sum = arith.addf %a, %b : f32
        gpu.yield %sum : f32
      } : (f32) -> f32
      %sr = gpu.subgroup_reduce mul %x : (f32) -> f32
      %st = gpu.subgroup_reduce add %x uniform cluster(size = 4) : (f32) -> f32
      %su = gpu.subgroup_reduce add %x cluster(size = 4, stride = 2) {u.note} : (f32) -> f32
      %c1 = arith.constant 1 : i32
      %c32 = arith.constant 32 : i32
      %value, %valid = gpu.shuffle xor %x, %c1, %c32 : f32
      %rot, %ok = gpu.rotate %x, 3, 16 : f32
      %first = gpu.subgroup_broadcast %x, first_active_lane : f32
      %other = gpu.subgroup_broadcast %x, specific_lane %c1 : f32
      gpu.barrier
      gpu.printf "%d of %f\n", %c1, %x : i32, f32
      gpu.printf "done"
      gpu.return
    }
    gpu.func @empty() kernel {
      gpu.return
    }
    gpu.func @twice(%x: f32 {u.note}) -> (f32 {u.note}) {
      %0 = arith.addf %x, %x : f32
      gpu.return %0 : f32
    }
  }
  gpu.module @compiled <#gpu.select_object<0 : i64>> [#nvvm.target] attributes {u.note} {
    gpu.func @empty() kernel {
      gpu.return
    }
  }
  gpu.binary @one [#gpu.object<#nvvm.target, "">]
  gpu.binary @two <#gpu.select_object<1 : i64>> {u.note} [#gpu.object<#nvvm.target, bin = "">, #gpu.object<#nvvm.target<chip = "sm_90">, "">]
}

// -----

func.func @one_lane(%lane: index, %v: vector<4xi32>) -> vector<4xi32> {
  gpu.warp_execute_on_lane_0(%lane)[32] {
    "u.run"() : () -> ()
  }
  %0 = gpu.warp_execute_on_lane_0(%lane)[32] args(%v : vector<4xi32>) -> (vector<4xi32>) {
  ^bb0(%all: vector<128xi32>):
    %sum = arith.addi %all, %all : vector<128xi32>
    gpu.yield %sum : vector<128xi32>
  } {u.note}
  return %0 : vector<4xi32>
}
func.func @matrices(%a: memref<32x32xf16, 3>, %o: memref<16x16xf32>, %i: index, %x: f32) {
  %0 = gpu.subgroup_mma_load_matrix %a[%i, %i] {leadDimension = 32 : index} : memref<32x32xf16, 3> -> !gpu.mma_matrix<16x16xf16, "AOp">
  %1 = gpu.subgroup_mma_load_matrix %a[%i, %i] {leadDimension = 32 : index, transpose} : memref<32x32xf16, 3> -> !gpu.mma_matrix<16x16xf16, "BOp">
  %2 = gpu.subgroup_mma_constant_matrix %x : !gpu.mma_matrix<16x16xf32, "COp">
  %3 = gpu.subgroup_mma_compute %0, %1, %2 : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
  %4 = gpu.subgroup_mma_elementwise addf %3, %2 : (!gpu.mma_matrix<16x16xf32, "COp">, !gpu.mma_matrix<16x16xf32, "COp">) -> !gpu.mma_matrix<16x16xf32, "COp">
  %5 = gpu.subgroup_mma_extract_thread_local %4[%i] : !gpu.mma_matrix<16x16xf32, "COp"> -> f32
  %6 = gpu.subgroup_mma_insert_thread_local %5, %4[%i] : f32, !gpu.mma_matrix<16x16xf32, "COp"> -> !gpu.mma_matrix<16x16xf32, "COp">
  gpu.subgroup_mma_store_matrix %6, %o[%i, %i] {leadDimension = 16 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<16x16xf32>
  return
}
