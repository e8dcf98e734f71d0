module attributes {gpu.container_module} {
  func.func @all(%n: index, %i: memref<?xindex>, %v: memref<?xf64>, %m: memref<4x8xf16>, %b: memref<8xi8>) {
    %t = gpu.wait async
    %coo, %t1 = gpu.create_coo async [%t] %n, %n, %n, %i, %i, %v : memref<?xindex>, memref<?xindex>, memref<?xf64>
    %csr = gpu.create_csr %n, %n, %n, %i, %i, %v {k = 1} : memref<?xindex>, memref<?xindex>, memref<?xf64>
    %csc = gpu.create_csc %n, %n, %n, %i, %i, %v : memref<?xindex>, memref<?xindex>, memref<?xf64>
    %bsr = gpu.create_bsr %n, %n, %n, %n, %n, %i, %i, %v : memref<?xindex>, memref<?xindex>, memref<?xf64>
    %aos = gpu.create_coo_aos %n, %n, %n, %i, %v : memref<?xindex>, memref<?xf64>
    %pr, %t2 = gpu.create_2to4_spmat async {PRUNE_AND_CHECK} %n, %n, %m : memref<4x8xf16>
    %pr1 = gpu.create_2to4_spmat {NONE} %n, %n, %m : memref<4x8xf16>
    %dn = gpu.create_dn_tensor %v, %n : index into memref<?xf64>
    %dm, %t3 = gpu.create_dn_tensor async [%t1, %t2] %v, %n, %n : index, index into memref<?xf64>
    %s0 = gpu.spmv_buffer_size %coo, %dn, %dn into f64
    %s1, %t4 = gpu.spmv_buffer_size async %coo{CONJUGATE_TRANSPOSE}, %dn, %dn {k} into f64
    gpu.spmv %coo{NON_TRANSPOSE}, %dn, %dn, %v : memref<?xf64> into f64
    gpu.spmv %coo{TRANSPOSE}, %dn, %dn, %v : memref<?xf64> into f64
    %s2 = gpu.spmm_buffer_size %coo, %dm{TRANSPOSE}, %dm : index into f64
    %s3:3, %t5 = gpu.spmm_buffer_size async %coo, %dm, %dm : index, index, index into f64
    gpu.spmm %coo, %dm, %dm, %v : memref<?xf64> into f64
    gpu.spmm %coo{TRANSPOSE}, %dm{TRANSPOSE}, %dm, %v, %v, %v : memref<?xf64>, memref<?xf64>, memref<?xf64> into f64
    %s4 = gpu.sddmm_buffer_size %dm, %dm{TRANSPOSE}, %csr into f32
    gpu.sddmm %dm{TRANSPOSE}, %dm, %csr, %v : memref<?xf64> into f32
    %d = gpu.spgemm_create_descr
    %s5 = gpu.spgemm_work_estimation_or_compute {WORK_ESTIMATION} %csr, %csr{TRANSPOSE}, %csr, %d, %n, %b : f32 into memref<8xi8>
    %s6, %t6 = gpu.spgemm_work_estimation_or_compute async [%t5] {COMPUTE} %csr, %csr, %csr, %d, %n, %b : f32 into memref<8xi8>
    gpu.spgemm_copy %csr{TRANSPOSE}, %csr, %csr, %d : f32
    %r, %c, %z = gpu.spmat_get_size %csr
    gpu.set_csr_pointers %csr, %i, %i, %v : memref<?xindex>, memref<?xindex>, memref<?xf64>
    gpu.spgemm_destroy_descr %d
    gpu.destroy_sp_mat %csr
    %t7 = gpu.destroy_dn_tensor async [%t6] %dm
    gpu.wait [%t7]
    return
  }
}
