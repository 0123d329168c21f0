// A 3x3 convolution of 64 channels on 56x56 inputs has 54x54 outputs; this mapping asks for tiles of 56x56.
Network example {
  Layer conv {
    Type: CONV
    Dimensions { K: 64, C: 64, Y: 56, X: 56, R: 3, S: 3 }
    Dataflow {
      SpatialMap(1,1) K;
      TemporalMap(16,16) C;
      TemporalMap(56,56) Y';
      TemporalMap(56,56) X';
      TemporalMap(3,3) R;
      TemporalMap(3,3) S;
      Cluster(16,P);
      TemporalMap(1,1) K;
      SpatialMap(1,1) C;
      TemporalMap(56,56) Y';
      TemporalMap(56,56) X';
      TemporalMap(3,3) R;
      TemporalMap(3,3) S;
    }
  }
}
